"""Lines are found in one pass, and given patterns are held within bounds."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.scan import LONGEST, MOST, compile_given, compile_lines, compile_trigger, encode, find_lines
from rules_engine.types import RuleError

LINES = st.lists(st.text(alphabet="ab \té", max_size=4), max_size=12)


def found(lines: list[str], *patterns: str) -> list[int]:
    """Positions of the lines in which a rule's patterns are found."""
    return list(find_lines(compile_given(patterns, "p"), encode(lines)))


@pytest.mark.parametrize(
    ("lines", "pattern", "expected"),
    [
        pytest.param([""], "a", [], id="an empty text"),
        pytest.param(["b", "c"], "a", [], id="no match"),
        pytest.param(["a", "b"], r"a\s+b", [], id="a pattern does not reach over a line's end"),
        pytest.param(["b", "a"], "[^x]a", [], id="nor does what is excluded"),
        pytest.param(["a\nb".replace("\n", "\r"), "b"], r"^b", [1], id="a carriage return is no line's end"),
        pytest.param(["", "a", "", ""], r"^\s*$", [0, 2, 3], id="blank lines"),
        pytest.param(["a", "A", "b", "éa"], "a", [0, 1, 3], id="in any case, after any character"),
        pytest.param(["xa", "ax"], "^a|a$", [0, 1], id="anchors are the line's"),
    ],
)
def test_find_lines(lines: list[str], pattern: str, expected: list[int]) -> None:
    """A given pattern is searched in each line by itself."""
    assert found(lines, pattern) == expected


@given(LINES, st.sampled_from(["a", "^a", "b$", "^$", "é", r"\s", "a|b"]))
def test_find_lines_agrees_with_searching_each_line(lines: list[str], pattern: str) -> None:
    """One pass over the text finds what a search in each line finds."""
    expected = [at for at, line in enumerate(lines or [""]) if re.search(pattern, line)]
    assert found(lines, pattern) == expected
    assert list(find_lines(compile_lines(pattern.replace(r"\s", r"[ \t]")), encode(lines))) == expected


def test_no_patterns_find_nothing() -> None:
    """A rule without patterns strips nothing."""
    assert found(["a", ""]) == []


@pytest.mark.parametrize(
    ("patterns", "field", "remedy"),
    [
        pytest.param(["a", ""], "p[1]", "leave it out", id="an empty pattern"),
        pytest.param(["a" * (LONGEST + 1)], "p[0]", "shorten", id="a long pattern"),
        pytest.param(["a"] * (MOST + 1), "p", "at most", id="many patterns"),
        pytest.param(["("], "p[0]", "RE2", id="a pattern that does not compile"),
        pytest.param(["(?=a)"], "p[0]", "lookaround", id="lookahead"),
        pytest.param([r"(a)\1"], "p[0]", "back references", id="a back reference"),
        pytest.param([r"\Aa"], "p[0]", "write ^", id="an anchor of the whole text"),
        pytest.param([r"\Qa"], "p[0]", "RE2", id="a quotation that would swallow the next pattern"),
        pytest.param(["a)|(b"], "p[0]", "RE2", id="a parenthesis that would end the group"),
        pytest.param(["((a{90}){90}){90}"], "p[0]", "RE2", id="a repetition that explodes"),
        pytest.param(["\ud800"], "p[0]", "half a character", id="a lone surrogate"),
    ],
)
def test_given_patterns_are_bounded(patterns: list[str], field: str, remedy: str) -> None:
    """What cannot be used is refused with its field and a remedy."""
    with pytest.raises(RuleError, match=re.escape(remedy)) as refusal:
        compile_given(patterns, "p")
    assert str(refusal.value).startswith(f"{field}: ")


def test_a_trigger_sees_all_lines_of_a_command() -> None:
    """A trigger may describe a command of several lines."""
    assert compile_trigger(r"^cat <<E\n.*\nE$").search("CAT <<E\nx\nE")


def test_a_trigger_that_matches_everything_is_refused() -> None:
    """A rule says which command it is for."""
    with pytest.raises(RuleError, match="name the command"):
        compile_trigger("a*")
