"""Pool events are written and read as they were, and what cannot be trusted is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.evolution.events import NAMES, PoolEvent, content_key, dump_event, load_event
from rules_engine.types import Rule, RuleError, Trigger

RULE = Rule(
    id="x",
    kind="line_filter",
    trigger=Trigger(pattern=r"\bmake\b"),
    params={"strip_patterns": ["^cc "], "max_lines": None},
    evidence={"outputs": 412, "sources": ["a", "b"]},
    parent="w",
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3)
)
EVENTS = st.builds(
    PoolEvent,
    name=st.sampled_from(sorted(NAMES)),
    rule=st.none() | st.just(RULE),
    ref=st.none() | st.tuples(st.text(max_size=5), st.integers(1, 9)),
    tenant=st.text(max_size=5),
    session=st.text(max_size=5),
    time=st.floats(0, 1e10),
    data=st.dictionaries(st.text(max_size=5), JSON, max_size=3),
)


@given(EVENTS)
def test_what_is_written_is_read(event: PoolEvent) -> None:
    """An event survives the store."""
    assert load_event(dump_event(event)) == event


def changed(**fields: object) -> str:
    """A stored event with other fields."""
    return json.dumps(json.loads(dump_event(PoolEvent(name="proposed", rule=RULE))) | fields)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("", "damaged", id="nothing"),
        pytest.param("[1]", "damaged", id="no object"),
        pytest.param("[" * 100_000, "damaged", id="nesting without end"),
        pytest.param(changed(format=2), "upgrade taco-gateway", id="a newer format"),
        pytest.param(changed(name="adopted"), "upgrade taco-gateway", id="a newer event"),
        pytest.param(changed(rule={"id": "x"}), "damaged", id="half a rule"),
        pytest.param(changed(rule="x"), "damaged", id="no rule"),
        pytest.param(changed(ref=["x"]), "damaged", id="half a name"),
        pytest.param(changed(time="noon"), "damaged", id="no time"),
        pytest.param(
            dump_event(PoolEvent(name="proposed", rule=replace(RULE, trigger=Trigger(pattern="[redacted:token]")))),
            "a secret stood in its patterns",
            id="a secret was cut out of a trigger",
        ),
        pytest.param(
            dump_event(PoolEvent(name="proposed", rule=replace(RULE, params={"strip_patterns": ["[redacted:key]"]}))),
            "a secret stood in its patterns",
            id="a secret was cut out of a pattern",
        ),
    ],
)
def test_events_that_are_refused(text: str, says: str) -> None:
    """An event that cannot be trusted says why; it never becomes another rule."""
    with pytest.raises(RuleError, match=says):
        load_event(text)


@pytest.mark.parametrize(
    ("fields", "is_same"),
    [
        pytest.param({"id": "y", "version": 3, "description": "d", "priority": 1}, True, id="another name"),
        pytest.param({"confidence": 0.1, "times_applied": 9, "evidence": {}}, True, id="another past"),
        pytest.param({"trigger": Trigger(pattern="ninja")}, False, id="another trigger"),
        pytest.param({"params": {"strip_patterns": ["^cc"]}}, False, id="another pattern"),
        pytest.param({"kind": "window"}, False, id="another kind"),
        pytest.param({"on_failing": True}, False, id="allowed on failing outputs"),
    ],
)
def test_content_is_what_a_rule_does(fields: dict[str, Any], *, is_same: bool) -> None:
    """Retention and the search for what is known already go by it."""
    assert (content_key(replace(RULE, **fields)) == content_key(RULE)) is is_same


@pytest.mark.parametrize("value", [None, "3", True, -1, 1.5, [3]])
def test_a_count_that_is_none(value: object) -> None:
    """What is not a count counts as nought."""
    assert PoolEvent(name="ended", data={"applied": value}).count("applied") == 0


@pytest.mark.parametrize(
    ("value", "share"), [(None, 0.5), ("1", 0.5), (True, 0.5), (float("nan"), 0.5), (-1, 0.0), (7, 1.0), (0.25, 0.25)]
)
def test_a_share_is_a_number_from_nought_to_one(value: object, share: float) -> None:
    """What is none is replaced, what is beyond is held."""
    assert PoolEvent(name="ended", data={"confidence": value}).share("confidence", 0.5) == share
