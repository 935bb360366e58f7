"""One entry of a pool: claims of which the largest counts."""

from __future__ import annotations

from rules_engine.evolution.entries import place_key, put, settle, take
from rules_engine.evolution.events import PoolEvent
from rules_engine.evolution.numbers import Numbers
from rules_engine.types import Rule, Trigger

RULE = Rule(id="x", kind="line_filter", trigger=Trigger(pattern=r"\bmake\b"), params={})
NUMBERS = Numbers()


def test_nobody_knows_the_rule() -> None:
    """An event without a rule makes no entry."""
    assert take(None, PoolEvent(name="admitted", ref=("x", 1)), NUMBERS) is None


def test_a_rule_makes_an_entry_that_says_what_it_names() -> None:
    """Selection does not read the trigger again."""
    entry = take(None, PoolEvent(name="proposed", rule=RULE, tenant="t"), NUMBERS)
    assert entry is not None
    assert (entry.ref, entry.tenant, entry.stage, entry.named) == (("x", 1), "t", "proposed", ("make",))


def test_the_stage_never_goes_back_by_itself() -> None:
    """A promotion that is heard of twice, or late, changes nothing."""
    entry = None
    for name in ("proposed", "retired", "admitted", "promoted"):
        entry = take(entry, PoolEvent(name=name, rule=RULE), NUMBERS)  # type: ignore[arg-type]
    assert entry is not None
    assert entry.stage == "retired"


def test_a_rule_can_be_imported_for_trial() -> None:
    """It is decided and not applied at first, and goes on by itself."""
    entry = take(None, PoolEvent(name="imported", rule=RULE, data={"stage": "shadow"}), NUMBERS)
    assert entry is not None
    assert (entry.stage, entry.hand) == ("shadow", None)


def test_a_hand_has_a_time_and_a_reason() -> None:
    """The later one counts."""
    entry = take(None, PoolEvent(name="proposed", rule=RULE), NUMBERS)
    assert entry is not None
    late = put(entry, PoolEvent(name="disabled", time=5, data={"reason": "too eager"}), "disabled", "by hand")
    assert put(late, PoolEvent(name="enabled", time=4), "live", "by hand", lifts=True).hand == late.hand
    assert (late.stage, late.reason) == ("disabled", "too eager")


def test_an_entry_without_ends_has_the_confidence_of_its_rule() -> None:
    """Nothing has been found out yet."""
    entry = take(None, PoolEvent(name="imported", rule=Rule(**_fields() | {"confidence": 0.8})), NUMBERS)
    assert entry is not None
    assert settle(entry, NUMBERS).confidence == 0.8


def _fields() -> dict[str, object]:
    return {"id": "x", "kind": "line_filter", "trigger": RULE.trigger, "params": {}}


def test_a_place_is_named_without_saying_which_it_is() -> None:
    """Its key is always the same, and has nothing of it."""
    assert place_key("shop") == place_key("shop") != place_key("shop2")
    assert "shop" not in place_key("shop")
