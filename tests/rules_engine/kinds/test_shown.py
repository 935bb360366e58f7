"""Runs of lines that stand in an earlier text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine import marks
from rules_engine.kinds import shown
from rules_engine.lines import index
from rules_engine.types import Earlier, Settings

SETTINGS = Settings(pointer_lines=4, seam_lines=1)


def many(count: int, start: int = 0, numbered: bool = False) -> list[str]:
    """Lines of a file, each one of its own."""
    return [f"{n}\tvalue_{n} = {n * n}" if numbered else f"value_{n} = {n * n}" for n in range(start, start + count)]


def earlier(lines: Sequence[str], key: str = "source") -> Earlier:
    """Those lines as a text before."""
    return index(key, "\n".join(lines))


def spans(lines: Sequence[str], *sources: Earlier, settings: Settings = SETTINGS) -> list[tuple[int, int]]:
    """What is hidden of `lines`."""
    return [(run.start, run.end) for run in shown.find(lines, sources, settings)]


@pytest.mark.parametrize(
    ("lines", "before"),
    [
        pytest.param([], many(9), id="no lines"),
        pytest.param(many(9), [], id="nothing before"),
        pytest.param(many(9), many(9, start=20), id="nothing in common"),
        pytest.param(["new", *many(3), "new"], many(3), id="a run that is too short"),
        pytest.param(["new", *many(9), "new"], many(9)[::2], id="every second line"),
        pytest.param(
            ["}", "", "  }", "", "}", "", "}"], ["}", "", "  }", "", "}", "", "}"], id="lines that say nothing"
        ),
        pytest.param(many(9), many(9)[::-1], id="another order"),
        pytest.param(many(9, numbered=True), many(9), id="numbers that did not stand there"),
        pytest.param(
            [f"{n + 31}\tline {n}" for n in range(9)], [f"{n}\tline {n}" for n in range(9)], id="another place"
        ),
    ],
)
def test_is_not_shown(lines: list[str], before: list[str]) -> None:
    """What does not stand there as it is, long enough, is no run."""
    assert spans(lines, earlier(before)) == []


@pytest.mark.parametrize(
    ("lines", "before", "hidden"),
    [
        pytest.param(many(9), many(9), [(0, 9)], id="the whole text"),
        pytest.param([*many(9), ""], many(9), [(0, 9)], id="the whole text but for a line end"),
        pytest.param(["new", *many(9), "new"], many(9), [(2, 9)], id="a line kept at each seam"),
        pytest.param([*many(9), "new"], many(30), [(0, 8)], id="no seam where the text begins"),
        pytest.param([*many(9), "new", *many(9, start=9)], many(30), [(0, 8), (11, 19)], id="two runs"),
        pytest.param(["}", *many(9), "}", "new"], ["}", *many(9), "}"], [(1, 10)], id="ends with lines to be quoted"),
    ],
)
def test_is_shown(lines: list[str], before: list[str], hidden: list[tuple[int, int]]) -> None:
    """Runs are found where they stand, and kept apart from what is around them."""
    assert spans(lines, earlier(before)) == hidden


def test_lines_that_moved_are_shown_anew() -> None:
    """Agents go by line numbers, and some edit by them."""
    before = many(20, numbered=True)
    lines = [line if n < 10 else line.replace(f"{n}\t", f"{n + 5}\t", 1) for n, line in enumerate(before)]

    assert spans(lines, earlier(before)) == [(0, 9)]


def test_the_longest_run_wins_and_among_equals_the_latest() -> None:
    """Fewer marks, and nearer."""
    short, first, last = (earlier(many(n), key) for n, key in ((5, "short"), (9, "first"), (9, "last")))

    assert [run.source.key for run in shown.find(many(9), [short, first, last], SETTINGS)] == ["last"]
    assert [run.source.key for run in shown.find(many(9), [first, short], SETTINGS)] == ["first"]


def test_nothing_leads_to_a_mark() -> None:
    """A line that stands for others is no source, and no run goes over it."""
    mark = marks.omitted(20, "abcdef")
    lines = [*many(9), mark, *many(9, start=9)]

    assert spans(lines, earlier(lines)) == [(0, 8), (11, 19)]


def test_barred_lines_stay() -> None:
    """With a seam on both sides."""
    found = shown.find(many(19), [earlier(many(19))], SETTINGS, barred=frozenset([9]))

    assert [(run.start, run.end) for run in found] == [(0, 8), (11, 19)]


@pytest.mark.parametrize(
    ("bound", "hidden"),
    [
        pytest.param((4, 9), (2, 16), id="inside"),
        pytest.param((0, 4), (4, 16), id="over the beginning"),
        pytest.param((14, 18), (2, 14), id="over the end"),
    ],
)
def test_bound_lines_are_not_parted(bound: tuple[int, int], hidden: tuple[int, int]) -> None:
    """A fold and its values are hidden together, or shown together."""
    lines = ["new", *many(16), "new"]
    (run,) = shown.find(lines, [earlier(many(16))], SETTINGS, bound=[bound])

    assert (run.start, run.end) == hidden


TEXTS = st.lists(st.sampled_from([*many(12), *many(6, numbered=True), "}", ""]), max_size=60)


@given(TEXTS, st.lists(TEXTS, max_size=3))
def test_pointers_lead_to_what_they_hide(lines: list[str], before: list[list[str]]) -> None:
    """Each run is in its place in its source, in order, and neither overlaps nor exceeds the text."""
    runs = shown.find(lines, [earlier(text, str(n)) for n, text in enumerate(before)], SETTINGS)

    assert all(shown.verify(run, lines) for run in runs)
    assert all(a.end < b.start for a, b in pairwise(runs))
    assert all(run.end <= len(lines) for run in runs)


@given(st.lists(st.integers(0, 10**6), min_size=4, max_size=40, unique=True), st.integers(0, 30))
def test_every_run_is_found(numbers: list[int], before: int) -> None:
    """A run of the least length is found wherever it stands."""
    run = [f"value_{n}" for n in numbers]
    lines = [*(f"other_{n}" for n in range(before)), *run, "end of text"]

    assert spans(lines, earlier(run), settings=Settings(pointer_lines=4, seam_lines=0)) == [(before, before + len(run))]
