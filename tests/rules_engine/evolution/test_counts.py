"""Counts: a bound, not a mean, and no more weight for a crowd of one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.evolution.counts import PER_SESSION, PER_SOURCE, Count, upper


@pytest.mark.parametrize(
    ("used", "trials", "at_least", "at_most"),
    [
        pytest.param(0, 0, 1.0, 1.0, id="nothing tried says nothing"),
        pytest.param(0, 10, 0.15, 0.3, id="ten trials say little"),
        pytest.param(0, 1000, 0.001, 0.004, id="a thousand say much"),
        pytest.param(500, 1000, 0.5, 0.55, id="a half is a half and a bit"),
        pytest.param(20, 10, 0.99, 1.0, id="more uses than trials"),
    ],
)
def test_bound(used: int, trials: int, at_least: float, at_most: float) -> None:
    """The share of uses is taken at the upper end of what the trials allow."""
    assert at_least <= upper(used, trials) <= at_most


@given(st.integers(0, 50), st.integers(1, 500))
def test_the_bound_is_above_the_mean(used: int, trials: int) -> None:
    """A bound, not a mean; more trials without use bring it down."""
    assert min(used / trials, 1.0) - 1e-9 <= upper(used, trials) <= 1.0
    assert upper(0, trials + 50) < upper(0, trials)


@pytest.mark.parametrize(
    ("witnesses", "trials"),
    [
        pytest.param([], 0, id="nobody"),
        pytest.param([("r", "s", 7)], 7, id="one"),
        pytest.param([("r", "s", 900), ("r", "s", 900)], PER_SESSION, id="a flood of one session"),
        pytest.param([("r", f"s{n}", 900) for n in range(50)], PER_SOURCE, id="a flood of one source"),
        pytest.param([(f"r{n}", "s", 900) for n in range(4)], 4 * PER_SESSION, id="four sources"),
    ],
)
def test_trials(witnesses: list[tuple[str, str, int]], trials: int) -> None:
    """A session and a source each count up to a limit."""
    count = Count()
    for witness in witnesses:
        count.witness(*witness)
    assert count.trials == trials


NUMBERS = st.integers(0, 40)
COUNTS = st.builds(
    Count,
    outputs=NUMBERS,
    lines=NUMBERS,
    used=NUMBERS,
    chars=NUMBERS,
    failed=NUMBERS,
    witnesses=st.dictionaries(st.tuples(st.sampled_from("pq"), st.sampled_from("stu")), st.integers(0, PER_SESSION)),
)


@given(st.lists(COUNTS, max_size=4))
def test_counts_merge_in_any_order(counts: list[Count]) -> None:
    """What was counted apart and put together is the same, whichever comes first."""
    one, other = Count(), Count()
    for count in counts:
        one.merge(count)
    for count in reversed(counts):
        other.merge(count)
    assert one == other
