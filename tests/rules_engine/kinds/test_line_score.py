"""Lines of routine output go if even the upper bound of their use is under the limit."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine import features
from rules_engine.kinds import line_score
from rules_engine.types import RuleError

CERTAIN = {name: {name: 0.0} for name in features.NAMES}
LEARNED: Mapping[str, object] = {"weights": {"passing": -5.0, "named": 4.0}, "covariances": CERTAIN}
ITEMS = tuple(
    f"(pass) item {word}" for word in ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
)
TEXT = (
    "$ bun test",
    "",
    "a.test.ts:",
    *ITEMS,
    "",
    "b.test.ts:",
    *ITEMS,
    "",
    " 20 pass",
    " 0 fail",
    "Ran 20 tests",
    "end",
)


def dropped(lines: tuple[str, ...], raw: Mapping[str, object] = LEARNED, *protected: int) -> list[str]:
    """The lines that go."""
    return [lines[at] for at in line_score.drop(lines, line_score.parse(raw), frozenset(protected))]


@pytest.mark.parametrize(
    ("lines", "raw"),
    [
        pytest.param((), LEARNED, id="no lines"),
        pytest.param(TEXT[:6], LEARNED, id="a short output"),
        pytest.param(TEXT, {}, id="nothing was learned"),
        pytest.param(TEXT, {"weights": {"passing": -5.0}}, id="weights without evidence are in doubt"),
        pytest.param(TEXT, {**LEARNED, "limit": 0.001}, id="the limit is lower"),
        pytest.param(TEXT, {**LEARNED, "fewest": 21}, id="too few lines are of that sort"),
        pytest.param(tuple(f"item {n}" for n in range(40)), LEARNED, id="no line is routine"),
        pytest.param(tuple(f"(pass) item_{n}" for n in range(40)), LEARNED, id="a feature that is used outweighs it"),
    ],
)
def test_nothing_goes(lines: tuple[str, ...], raw: Mapping[str, object]) -> None:
    """Where there is no reason to, every line stays."""
    assert dropped(lines, raw) == []


def test_items_that_passed_go_with_what_lies_between() -> None:
    """Head and tail stay, and so does the heading before the first item."""
    assert dropped(TEXT) == [*ITEMS, "", "b.test.ts:", *ITEMS]


def test_what_stands_out_of_routine_stays() -> None:
    """A duration far from the others'; and of traces the one that is like no others."""
    slow = tuple(f"(pass) item {'abcdefghij'[n % 10]} [{n % 20}.00ms]" for n in range(30))
    odd = "(pass) item k [9041.00ms]"
    assert odd not in dropped((*TEXT[:3], *slow[:15], odd, *slow[15:], *TEXT[-4:]))
    traced = {"weights": {"traced": -5.0}, "covariances": CERTAIN}
    traces = tuple(f"DEBUG cache hit, key={n}" for n in range(30))
    news = "DEBUG falling back to the old store"
    assert dropped((*traces[:15], news, *traces[15:]), traced) == list(traces[1:-2])


def test_a_heading_stays_with_a_line_under_it() -> None:
    """What is left has its place."""
    lines = (*TEXT[:15], "warning: slow", *TEXT[15:])
    assert dropped(lines) == [*ITEMS, *ITEMS]


def test_a_protected_heading_stays() -> None:
    """Like any protected line."""
    assert dropped(TEXT, LEARNED, 14) == [*ITEMS, *ITEMS]


def test_doubt_counts() -> None:
    """The bound is the sum of the weights and so many times the deviation of that sum."""
    known = {"passing": {"passing": 9.0}, "sized": {"sized": 16.0, "passing": -4.5}}
    params = line_score.parse({"weights": {"passing": -5.0, "sized": 1.0}, "covariances": known})
    shown = [features.NAMES.index("passing"), features.NAMES.index("sized")]
    assert math.isclose(params.bound(shown), -4.0 + 1.64 * 4.0)


def test_what_goes_is_explained() -> None:
    """In words: how many lines, what they show, and how often such are used at most."""
    params = line_score.parse(
        {**LEARNED, "weights": {"passing": -3.0, "alike": -1.0}, "keep_first_n": 3, "keep_last_n": 5}
    )
    lines = TEXT[:16]
    out = line_score.drop(lines, params, frozenset())
    words = "7 that show passing, alike, beside: used at most 1.8%; 1 that show passing, alike: used at most 1.8%"
    assert line_score.explain(lines, out, params) == words


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        pytest.param({"strip": 1}, "strip", id="an unknown field"),
        pytest.param({"weights": [1.0]}, "weights", id="weights that are no object"),
        pytest.param({"weights": {"taste": 1.0}}, "weights.taste", id="an unknown feature"),
        pytest.param({"weights": {"passing": "1"}}, "weights.passing", id="a weight that is no number"),
        pytest.param({"weights": {"passing": math.nan}}, "weights.passing", id="a weight that is nothing"),
        pytest.param({"covariances": 1}, "covariances", id="covariances that are no object"),
        pytest.param({"covariances": {"passing": 1}}, "covariances.passing", id="a row that is no object"),
        pytest.param({"covariances": {"taste": {"passing": 1}}}, "covariances.taste", id="a row of an unknown feature"),
        pytest.param({"limit": 0}, "limit", id="a limit of nought"),
        pytest.param({"limit": 1.0}, "limit", id="a limit that everything is under"),
        pytest.param({"times_doubt": -1}, "times_doubt", id="doubt that makes sure"),
        pytest.param({"fewest": True}, "fewest", id="a count that is none"),
    ],
)
def test_junk_is_refused(raw: dict[str, object], field: str) -> None:
    """With an error that names the field."""
    with pytest.raises(RuleError, match=field):
        line_score.parse(raw)


LINES = st.lists(
    st.sampled_from((*ITEMS[:3], "", "a/b.c:", "Compiling a", "x 3 kB", "said so", "error: e")), max_size=60
)


@given(LINES, st.frozensets(st.integers(0, 59)), st.sampled_from((0.05, 0.6)))
def test_protected_lines_stay(lines: list[str], protected: frozenset[int], limit: float) -> None:
    """So do head and tail; what goes is in order, and the same again."""
    params = line_score.parse({"covariances": CERTAIN, "limit": limit, "fewest": 2})
    out = line_score.drop(tuple(lines), params, protected)
    assert list(out) == sorted(set(out))
    assert not protected.intersection(out)
    assert all(params.first <= at < len(lines) - params.last for at in out)
    assert out == line_score.drop(tuple(lines), params, protected)
