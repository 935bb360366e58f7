"""Snapshots of a pool: what is read back is the pool that was written, and goes on as it would have."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.evolution.pool import EMPTY, Numbers, PoolEvent, fold, imports
from rules_engine.evolution.snapshots import dump_pool, fingerprint, load_pool
from rules_engine.seeds import SEEDS
from rules_engine.types import RuleError

NUMBERS = Numbers(entries=5, outcomes=3, generic_places=2)
BEGUN = fold(replace(EMPTY, numbers=NUMBERS), imports(EMPTY, SEEDS[:4], "", 0.0))

NAMES = "admitted promoted applied complained written_back disabled enabled rolled_back ended batch"

told = st.builds(
    lambda name, rule, times, data: PoolEvent(
        name=name, ref=(rule.id, rule.version), session=f"s{times}", time=times, data=data
    ),
    st.sampled_from(NAMES.split()),
    st.sampled_from(SEEDS),
    st.floats(0, 9),
    st.fixed_dictionaries(
        {
            "applied": st.integers(0, 3),
            "removed": st.integers(0, 900),
            "confidence": st.floats(0, 1),
            "place": st.sampled_from(["", "a", "b", "c"]),
            "stage": st.sampled_from(["canary", "live"]),
            "number": st.integers(0, 9),
            "top": st.lists(st.sampled_from("abc")),
        }
    ),
)
proposed = st.sampled_from([PoolEvent(name="proposed", rule=rule, time=1.0) for rule in SEEDS])


@given(st.lists(told | proposed, max_size=40), st.lists(told | proposed, max_size=10))
def test_a_pool_is_read_back_as_it_was(before: list[PoolEvent], after: list[PoolEvent]) -> None:
    """Whatever has happened; and what happens then comes to the same."""
    pool = fold(BEGUN, before)
    again = load_pool(dump_pool(pool), NUMBERS)
    assert again == pool
    assert list(again.entries) == list(pool.entries)
    assert fold(again, after) == fold(pool, after)


def test_an_empty_pool() -> None:
    """There may be nothing to say."""
    assert load_pool(dump_pool(EMPTY), Numbers()) == EMPTY


@pytest.mark.parametrize("text", ["", "{}", "[1]", '[0, [], [{"rule": {}}]]', "[0, [[1]], []]"])
def test_what_is_damaged_is_refused(text: str) -> None:
    """Then the events are folded."""
    with pytest.raises(RuleError, match="damaged"):
        load_pool(text, NUMBERS)


def test_what_a_pool_depends_on_has_a_name() -> None:
    """Other numbers, and other rules to begin with, have other names; the same the same."""
    grounds = [(Numbers(), SEEDS), (NUMBERS, SEEDS), (NUMBERS, SEEDS[:2]), (NUMBERS, ())]
    assert len({fingerprint(*ground) for ground in grounds}) == 4
    assert fingerprint(Numbers(), SEEDS) == fingerprint(Numbers(), tuple(SEEDS))
