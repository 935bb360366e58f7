"""A softer rule drops part of what its parent dropped."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.evolution.softening import soften
from rules_engine.kinds import line_filter
from rules_engine.types import Rule, Trigger

PARENT = Rule(
    id="downloads",
    version=3,
    kind="line_filter",
    trigger=Trigger(pattern=r"\bfetch\b"),
    params={
        "strip_patterns": ["^GET ", "^cached "],
        "keep_patterns": ["warn"],
        "keep_first_n": 2,
        "keep_last_n": 1,
        "max_lines": 9,
    },
    priority=31,
    confidence=0.2,
    times_applied=8,
    times_complained=3,
)


@pytest.mark.parametrize(
    ("rule", "missed"),
    [
        pytest.param(replace(PARENT, kind="window"), [], id="a kind that is not understood"),
        pytest.param(replace(PARENT, params={"max_lines": 3}), [], id="a rule that only caps"),
        pytest.param(PARENT, ["GET a", "cached b"], id="every pattern is to blame"),
    ],
)
def test_where_nothing_would_be_left(rule: Rule, missed: list[str]) -> None:
    """Then there is no softer rule; the parent is off, and that is all."""
    assert soften(rule, missed) is None


@pytest.mark.parametrize(
    ("missed", "params"),
    [
        pytest.param(["GET a"], {"strip_patterns": ["^cached "], "max_lines": None}, id="one pattern is to blame"),
        pytest.param(["another"], {"max_lines": None}, id="the cap is"),
        pytest.param([], {"max_lines": None}, id="nobody knows what was missed"),
    ],
)
def test_what_is_to_blame_goes(missed: list[str], params: dict[str, object]) -> None:
    """All else stays as it was, and the trigger is the same."""
    soft = soften(PARENT, missed)
    assert soft is not None
    assert soft.params == {**PARENT.params, **params}
    assert (soft.trigger, soft.priority, soft.kind) == (PARENT.trigger, PARENT.priority, PARENT.kind)


def test_where_none_is_to_blame_the_ends_grow() -> None:
    """Without a cap, and with patterns that match nothing that was missed."""
    soft = soften(replace(PARENT, params={**PARENT.params, "max_lines": None}), ["another"])
    assert soft is not None
    assert (soft.params["keep_first_n"], soft.params["keep_last_n"]) == (9, 7)


def test_paper_a_replacement_is_a_rule_of_its_own() -> None:
    """A new id, its parent, confidence 1.0 and no past."""
    soft = soften(PARENT, ["GET a"])
    assert soft is not None
    assert soft.id.startswith("downloads_soft_")
    assert (soft.version, soft.parent, soft.provenance) == (1, "downloads", "repair")
    assert (soft.confidence, soft.times_applied, soft.times_complained) == (1.0, 0, 0)

    softer = soften(replace(soft, params={**soft.params, "max_lines": None}), ["another"])
    assert softer is not None
    assert softer.parent == soft.id
    assert softer.id.count("_soft_") == 1
    assert softer.id != soft.id


LINES = st.lists(st.sampled_from(["GET a", "cached b", "warn c", "other", ""]), max_size=30).map(tuple)


@given(LINES, st.lists(st.sampled_from(["GET a", "cached b", "other"]), max_size=2))
def test_a_softer_rule_drops_nothing_that_its_parent_kept(lines: tuple[str, ...], missed: list[str]) -> None:
    """And, where a pattern was to blame, nothing of what was missed."""
    soft = soften(PARENT, missed)
    if soft is None:
        return
    before = line_filter.drop(lines, line_filter.parse(PARENT.params), frozenset())
    after = line_filter.drop(lines, line_filter.parse(soft.params), frozenset())
    assert set(after) <= set(before)
    assert not {lines[at] for at in after} & set(missed)
