"""The kind that shows few of the many lines of one form."""

from __future__ import annotations

import pytest

from rules_engine import RuleError
from rules_engine.kinds import alike

ROWS = tuple(f"worker {n % 4} ran job_{n}" for n in range(40))


def dropped(lines: tuple[str, ...], protected: frozenset[int] = frozenset(), **raw: object) -> tuple[int, ...]:
    """What goes, by default with nothing kept at the ends."""
    params = alike.parse({"keep_first_n": 0, "keep_last_n": 0, **raw})
    return alike.drop(lines, params, protected)


@pytest.mark.parametrize(
    ("lines", "raw"),
    [
        pytest.param((), {}, id="nothing"),
        pytest.param(ROWS[:7], {}, id="fewer than asked for"),
        pytest.param(ROWS, {"fewest": 41}, id="more are asked for"),
        pytest.param(ROWS, {"only_patterns": ["^node"]}, id="none shows the pattern"),
        pytest.param(ROWS, {"keep_first_n": 40}, id="all are in the head"),
        pytest.param(tuple(f"error: job_{n} failed" for n in range(40)), {}, id="failures"),
    ],
)
def test_nothing_goes(lines: tuple[str, ...], raw: dict[str, object]) -> None:
    """Where there is no crowd, or none that may go."""
    assert dropped(lines, **raw) == ()


def test_the_middle_goes() -> None:
    """But for the first of each kind, and what is protected."""
    assert dropped(ROWS) == tuple(range(4, 39))
    assert dropped(ROWS, frozenset({5, 6})) == (4, *range(7, 39))
    assert dropped(ROWS, only_patterns=["^worker [01]"]) == tuple(at for at in range(40) if at % 4 < 2 and 1 < at < 37)


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        ({"weights": {}}, "weights"),
        ({"only_patterns": "a"}, "only_patterns"),
        ({"only_patterns": ["("]}, r"only_patterns\[0\]"),
        ({"fewest": -1}, "fewest"),
        ({"keep_last_n": True}, "keep_last_n"),
    ],
)
def test_junk_is_refused(raw: dict[str, object], field: str) -> None:
    """With the field that is wrong."""
    with pytest.raises(RuleError, match=field):
        alike.parse(raw)
