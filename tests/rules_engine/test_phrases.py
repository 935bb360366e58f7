"""The wordings of failure and ending are searched line by line, in one pass."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rules_engine import phrases
from rules_engine.scan import encode, find_lines

PATTERNS = sorted(
    name for name, value in vars(phrases).items() if name.isupper() and not name.startswith("_") and name != "NOTHING"
)

WORDS = (
    "error: failed 0 1 exit code status expected : got ( ) [ ] return ok ... PASS === === FAILURES ^ | --> 3:5: E501 Error at "
    "remote: objects: 100% done. Collecting a from b in if { ; None tests ✓ ✗ no not found HTTP/1.1 500 panic: goroutine 1 [r]"
)
LINES = st.lists(st.lists(st.sampled_from(WORDS.split()), max_size=4).map(" ".join), min_size=1, max_size=6)


@pytest.mark.parametrize("name", PATTERNS)
@settings(max_examples=40)
@given(lines=LINES)
def test_no_wording_reaches_over_a_line(name: str, lines: list[str]) -> None:
    """A line is found for what it says, not for what stands next to it."""
    pattern = getattr(phrases, name)
    alone = [at for at, line in enumerate(lines) if list(find_lines(pattern, encode([line])))]
    assert list(find_lines(pattern, encode(lines))) == alone


@pytest.mark.parametrize(
    ("text", "left"),
    [
        pytest.param("3 failed", "3 failed", id="a count of something stays"),
        pytest.param("10 errors", "10 errors", id="a nought within a number stays"),
        pytest.param("Error: no such file", "Error: no such file", id="a message that begins with no stays"),
        pytest.param("test 0 failed", "test 0 failed", id="a test of that number stays"),
        pytest.param("x 1 passed, 0 failed, 2 errors", "x 1 passed, 2 errors", id="only the count of nothing goes"),
        pytest.param("errors: []", "", id="an empty list goes"),
    ],
)
def test_counts_of_nothing(text: str, left: str) -> None:
    """Counts of nothing are taken out before failures are looked for."""
    assert phrases.NOTHING.sub("", text) == left
