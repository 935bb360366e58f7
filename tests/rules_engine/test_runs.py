"""Runs of lines that stand in another text, before anything is said about seams."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.lines import index
from rules_engine.runs import Text, find_runs

LINES = [f"value_{n} = {n * n}" for n in range(20)]
BEFORE = index("before", "\n".join(LINES))


def found(lines: list[str], least: int = 4, barred: tuple[int, ...] = ()) -> list[tuple[int, int]]:
    """Where runs begin and end."""
    return [(run.start, run.end) for run in find_runs(Text(tuple(lines), barred), [BEFORE], least)]


@pytest.mark.parametrize(
    ("lines", "runs"),
    [
        pytest.param([], [], id="no lines"),
        pytest.param(LINES[:3], [], id="too few"),
        pytest.param(["", "}", "  "] * 9, [], id="nothing that says anything"),
        pytest.param(LINES[:4], [(0, 4)], id="just enough"),
        pytest.param(["new", *LINES, "new"], [(1, 21)], id="all of it"),
        pytest.param([*LINES[10:], *LINES[:10]], [(0, 10), (10, 20)], id="in another order"),
    ],
)
def test_runs(lines: list[str], runs: list[tuple[int, int]]) -> None:
    """As long as they can be, one after the other."""
    assert found(lines) == runs


def test_barred_lines_end_a_run() -> None:
    """They are in none."""
    assert found(LINES, barred=(0, 8, 19)) == [(1, 8), (9, 19)]


def test_a_part_of_a_run_leads_to_the_same_place() -> None:
    """Cut at both ends."""
    (run,) = find_runs(Text(tuple(LINES), ()), [BEFORE], 4)
    part = run.cut(5, 9)

    assert BEFORE.lines[part.at : part.at + 4] == tuple(LINES[5:9])


@given(st.lists(st.sampled_from([*LINES, "", "}"]), max_size=50), st.integers(1, 9))
def test_runs_equal_their_source(lines: list[str], least: int) -> None:
    """In each place, at least as long as was asked for, and apart."""
    runs = find_runs(Text(tuple(lines), ()), [BEFORE], least)

    assert all(BEFORE.lines[run.at : run.at + run.end - run.start] == tuple(lines[run.start : run.end]) for run in runs)
    assert all(run.end - run.start >= least for run in runs)
    assert all(first.end <= second.start for first, second in pairwise(runs))
