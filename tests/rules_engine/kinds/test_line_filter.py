"""TACO's line filter, without the defects of its released code."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.kinds.line_filter import drop, parse
from rules_engine.types import RuleError

NONE: frozenset[int] = frozenset()


def dropped(lines: list[str], protected: frozenset[int] = NONE, **params: object) -> tuple[int, ...]:
    """What a rule with these params leaves out."""
    return drop(tuple(lines), parse(params), protected)


def numbered(count: int, word: str = "noise") -> list[str]:
    """Lines that differ by their number only."""
    return [f"{word} {n}" for n in range(count)]


@pytest.mark.parametrize(
    ("lines", "params"),
    [
        pytest.param([], {"strip_patterns": ["."]}, id="nothing to drop from"),
        pytest.param(numbered(30), {}, id="no patterns, so every line is kept by default"),
        pytest.param(numbered(30), {"strip_patterns": ["absent"]}, id="nothing matches"),
        pytest.param(numbered(20), {"strip_patterns": ["."]}, id="no more lines than head, tail and five"),
        pytest.param(
            numbered(12), {"strip_patterns": ["."], "keep_first_n": 4, "keep_last_n": 3}, id="the same for other ends"
        ),
        pytest.param(numbered(30), {"strip_patterns": ["."], "keep_patterns": ["noise"]}, id="keep outranks strip"),
        pytest.param(numbered(30), {"max_lines": 15}, id="as many lines as the cap allows"),
        pytest.param(
            numbered(30),
            {"max_lines": 0, "keep_patterns": ["noise"]},
            id="keep outranks the cap, unlike in TACO's code",
        ),
        pytest.param(numbered(30), {"strip_patterns": ["."], "keep_first_n": 30}, id="head and tail overlap"),
    ],
)
def test_lines_that_stay(lines: list[str], params: dict[str, object]) -> None:
    """When in doubt every line is kept."""
    assert drop(tuple(lines), parse(params), NONE) == ()


@pytest.mark.parametrize(
    ("lines", "params", "expected"),
    [
        pytest.param(numbered(21), {"strip_patterns": ["noise"]}, range(5, 11), id="the body goes, head and tail stay"),
        pytest.param(
            numbered(21), {"strip_patterns": ["NOISE (6|8)$"]}, (6, 8), id="in any case, where the pattern matches"
        ),
        pytest.param(
            numbered(20),
            {"strip_patterns": ["."], "keep_first_n": 0, "keep_last_n": 0},
            range(20),
            id="without head and tail",
        ),
        pytest.param(numbered(30), {"max_lines": 3}, range(8, 20), id="a cap keeps the first lines of the body"),
        pytest.param(
            numbered(30),
            {"max_lines": 3, "strip_patterns": ["noise [567]$"]},
            (5, 6, 7, *range(11, 20)),
            id="a cap counts what is left",
        ),
        pytest.param(
            numbered(30),
            {"max_lines": 0, "keep_patterns": ["noise 1[0-9]"]},
            range(5, 10),
            id="a cap passes over what is kept",
        ),
    ],
)
def test_lines_that_go(lines: list[str], params: dict[str, object], expected: range | tuple[int, ...]) -> None:
    """A line goes only by a strip pattern or by the cap."""
    assert drop(tuple(lines), parse(params), NONE) == tuple(expected)


def test_protected_lines_stay_whatever_a_rule_says() -> None:
    """Neither strip nor cap touches a line that the engine protects."""
    lines = numbered(40)
    assert dropped(lines, frozenset(range(0, 40, 2)), strip_patterns=["."], max_lines=0) == tuple(range(5, 30, 2))


@pytest.mark.parametrize(
    ("params", "field", "remedy"),
    [
        pytest.param(
            {"keep_patterns": ["["]}, "keep_patterns[0]", "RE2", id="an invalid keep pattern is not passed over"
        ),
        pytest.param(
            {"strip_patterns": ["(?=a)"]}, "strip_patterns[0]", "lookaround", id="a strip pattern that RE2 refuses"
        ),
        pytest.param({"strip_patterns": "a"}, "strip_patterns", "list", id="a text for a list"),
        pytest.param({"keep_patterns": [1]}, "keep_patterns", "list", id="a number for a pattern"),
        pytest.param({"keep_first_n": -1}, "keep_first_n", "whole number", id="a negative head"),
        pytest.param({"keep_last_n": True}, "keep_last_n", "whole number", id="a truth value for a number"),
        pytest.param({"max_lines": 1.5}, "max_lines", "whole number", id="a fraction"),
        pytest.param({"keep_first_n": None}, "keep_first_n", "whole number", id="nothing for a number"),
        pytest.param({"max_lines": 10**9}, "max_lines", "whole number", id="a cap without bounds"),
        pytest.param({"summary_header": 3}, "summary_header", "text", id="a header that is no text"),
        pytest.param({"keep": []}, "keep", "unknown", id="a field that does not exist"),
    ],
)
def test_params_that_are_refused(params: dict[str, object], field: str, remedy: str) -> None:
    """A rule that cannot mean what it says is refused, with its field."""
    with pytest.raises(RuleError, match=re.escape(remedy)) as refusal:
        parse(params)
    assert str(refusal.value).startswith(f"{field}: ")


def test_params_of_the_original_are_taken() -> None:
    """All of TACO's fields are read, a header and null among them."""
    assert parse({"summary_header": "x", "max_lines": None}).cap is None


@given(
    st.lists(st.sampled_from(["keep me", "strip me", "strip and keep", "other", "", "é\r"]), max_size=60),
    st.integers(0, 8),
    st.integers(0, 8),
    st.none() | st.integers(0, 20),
    st.frozensets(st.integers(0, 60)),
)
def test_what_is_dropped(lines: list[str], first: int, last: int, cap: int | None, protected: frozenset[int]) -> None:
    """Head, tail, kept and protected lines never go; without a cap only stripped lines do; positions ascend."""
    out = dropped(
        lines,
        protected,
        strip_patterns=["strip"],
        keep_patterns=["keep"],
        keep_first_n=first,
        keep_last_n=last,
        max_lines=cap,
    )
    assert list(out) == sorted(set(out))
    assert all(first <= at < len(lines) - last for at in out)
    assert not any(at in protected or "keep" in lines[at] for at in out)
    assert cap is not None or all("strip" in lines[at] for at in out)
