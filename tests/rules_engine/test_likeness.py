"""Lines of one form, and which of them say what the others say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.likeness import groups, ordinary, outstanding

ROWS = [f"worker {n % 4} took job_{n} for {n % 30 + 1} ms" for n in range(60)]


def ordinary_of(lines: list[str]) -> set[str]:
    """What is ordinary in all groups of eight and more."""
    return {lines[at] for group in groups(lines, range(len(lines)), 8) for at in ordinary(lines, group)}


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param([], id="nothing"),
        pytest.param(ROWS[:7], id="too few"),
        pytest.param([f"{n} {n + 1} {n + 2}" for n in range(40)], id="figures without a word"),
        pytest.param(["the same line"] * 40, id="nothing varies"),
        pytest.param([f'"name_{n}": {n},' for n in range(40)], id="pieces of data"),
        pytest.param([f"{n}. harbor_{n} at noon" for n in range(40)], id="items that have an order"),
        pytest.param([f"row {n} " + "x " * 300 for n in range(40)], id="very long lines"),
        pytest.param([f"row {n} {'abcdefghij'[n % 10] * (n + 2)}" for n in range(40)], id="plain words differ"),
    ],
)
def test_these_have_no_form_in_common(lines: list[str]) -> None:
    """So nothing of them is ordinary."""
    assert ordinary_of(lines) == set()


def test_the_first_and_the_last_of_a_form_show_what_the_others_are_like() -> None:
    """Two at the beginning, one at the end, and the first of each kind."""
    assert ordinary_of(ROWS) == set(ROWS[4:-1])
    answers = [f"row_{n} was answered with {(200, 200, 201, 304)[n // 10 % 4]}" for n in range(80)]
    assert {answers[20], answers[30]}.isdisjoint(ordinary_of(answers))
    assert {answers[24], answers[34], answers[70]} <= ordinary_of(answers)


@pytest.mark.parametrize(
    "odd",
    [
        pytest.param("worker 3 took job_99 for 9120 ms", id="a figure far from the others"),
        pytest.param("worker 9 took job_30 for 12 ms", id="a value that nearly none has"),
        pytest.param("worker 3 took job_30 for 1.5 ms", id="a figure of another shape"),
        pytest.param("worker 3 took job_30 for -3 ms", id="a figure of another sign"),
        pytest.param("worker 3 lost job_30 for 12 ms", id="another word"),
        pytest.param("worker 3 took job_30", id="another length"),
        pytest.param("worker 3 took job_30 for 0 ms", id="nought among small figures"),
    ],
)
def test_what_stands_out_is_not_ordinary(odd: str) -> None:
    """Wherever it stands among the others."""
    for at in (5, 30, 55):
        assert odd not in ordinary_of([*ROWS[:at], odd, *ROWS[at:]])


@pytest.mark.parametrize(
    ("odd", "usual"),
    [
        pytest.param("loaded table_30 with 0 rows", "loaded table_{n} with {n}411 rows", id="nought among thousands"),
        pytest.param("module_30 covered 2 %", "module_{n} covered 8{d} %", id="a small share"),
        pytest.param("epoch 30 loss 0.1011", "epoch {n} loss 0.9{d}11", id="a fraction"),
        pytest.param("took 9120ms for job_30", "took {n}ms for job_{n}", id="a figure that has its unit on it"),
    ],
)
def test_a_figure_far_under_or_over_the_others_is_not_ordinary(odd: str, usual: str) -> None:
    """What nearly all are over, or under, by a multiple."""
    lines = [usual.format(n=n * 7 % 41 + 10, d=n * 7 % 10) for n in range(60)]
    assert odd not in ordinary_of([*lines[:30], odd, *lines[30:]])
    assert lines[40] in ordinary_of([*lines[:30], odd, *lines[30:]])


PARTS = [f"Fetching {word} as part_{n} ({n % 30 + 2} MB)" for n, word in enumerate(["anchor", "basket", "copper"] * 20)]


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(PARTS, id="names differ"),
        pytest.param(PARTS[:7], id="few lines"),
        pytest.param([f"Fetching {'abcdefghij'[n % 10] * (n + 2)}" for n in range(40)], id="every name is another"),
        pytest.param([f"checks that {a} meets {b}" for a in ("one", "two") for b in "abcd"], id="prose"),
        pytest.param(["x " * 300 + str(n) for n in range(40)], id="very long lines"),
        pytest.param([f"Fetching{' it' * (n + 1)}" for n in range(40)], id="every line is built in its own way"),
        pytest.param([f"took {n % 3} ms for part_{n}" for n in range(60)], id="many are nought"),
    ],
)
def test_nothing_stands_out(lines: list[str]) -> None:
    """Where a word or figure differs in many, it sets none apart."""
    assert outstanding(lines, range(len(lines)), 8) == set()


@pytest.mark.parametrize(
    "odd",
    [
        pytest.param("Fetching anchor as part_30 (9120 MB)", id="a figure"),
        pytest.param("Fetching anchor as part_30 (12 GB)", id="a unit"),
        pytest.param("Skipping anchor as part_30 (12 MB)", id="what was done"),
        pytest.param("Fetching basket from part_30 (12 MB)", id="a word between names"),
        pytest.param("Fetching anchor as thirty (9120 MB)", id="a figure beside another sort of name"),
        pytest.param("Skipping anchor", id="what was done, in a line of its own length"),
        pytest.param("Fetching stops at anchor since it has two owners", id="a line that is built as no other"),
        pytest.param("Fetching anchor as part_30 (0 MB)", id="nothing at all"),
        pytest.param("Fetching anchor as part_30 of the second set (12 GB)", id="a unit at the end of a longer line"),
    ],
)
def test_one_stands_out_among_its_like(odd: str) -> None:
    """By what nearly all others share, whatever their names are."""
    lines = [*PARTS[:30], odd, *PARTS[30:]]
    assert outstanding(lines, range(len(lines)), 8) == {30}


@given(st.lists(st.lists(st.sampled_from(["ab", "7", "", "x" * 300]), max_size=6).map(" ".join), max_size=40))
def test_lines_of_any_width_are_compared(lines: list[str]) -> None:
    """Those too wide, or empty, have no like, whatever their number of words."""
    assert all(0 < len(lines[at]) <= 400 for at in outstanding(lines, range(len(lines)), 2))


def test_what_only_grows_is_a_clock() -> None:
    """However far it gets."""
    lines = [f"tick {n * n * n} of the clock" for n in range(40)]
    assert ordinary_of(lines) == set(lines[2:-1])


@given(st.lists(st.sampled_from([*ROWS[:9], "", "row", "row 1", "{", "a/b c"]), max_size=60))
def test_groups_part_the_lines(lines: list[str]) -> None:
    """No line is in two groups, and what is ordinary of a group is within it."""
    found = groups(lines, range(len(lines)), 4)
    places = [at for group in found for at in group]
    assert len(places) == len(set(places))
    for group in found:
        assert set(ordinary(lines, group)) <= set(group[2:-1])
