"""The paper's calls: planner, new rule, conservative replacement; and what of a bad answer reaches the rules in use."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.evolution.numbers import Numbers
from rules_engine.evolution.planning import NoReply, call
from rules_engine.evolution.prompts import About, Missed, Start, Uncovered
from rules_engine.evolution.proposals import Outcome
from rules_engine.seeds import SEEDS
from rules_engine.types import Rule, Trigger

PLAN = Start(task="Get the tests of this library to pass", rules=SEEDS)
COLD = Start(task="Get the tests of this library to pass")
TEXT = "\n".join(f"(pass) case {n}" if n % 2 else f"(note) case {n}" for n in range(60))
NEW = Uncovered(command="bun test", text=TEXT, task="Get the tests to pass")
OLD = Rule(
    id="bun_test",
    kind="line_filter",
    trigger=Trigger(pattern="bun test"),
    params={"strip_patterns": ["^.(pass|note)"], "keep_first_n": 5, "keep_last_n": 10},
    times_applied=4,
)
REPLACED = Missed(rule=OLD, command="bun test", text=TEXT, said="The notes are gone, I need them.")
ALL: dict[str, About] = {"plan": PLAN, "cold plan": COLD, "new rule": NEW, "replacement": REPLACED}
RULE: dict[str, Any] = {"rule_id": "bun_quiet", "trigger_regex": r"\bbun\s+test\b", "strip_patterns": [r"^.pass"]}


def answered(about: About, reply: str | NoReply, known: Iterable[Rule] = ()) -> Outcome:
    """What came of a call that was answered so."""
    calling = call(about, lambda: known, Numbers())
    next(calling)
    with pytest.raises(StopIteration) as end:
        calling.throw(reply) if isinstance(reply, NoReply) else calling.send(reply)
    outcome: Outcome = end.value.value
    return outcome


def rule(number: int, **more: object) -> dict[str, Any]:
    """A proposal unlike the others."""
    return {**RULE, "rule_id": f"r{number}", "strip_patterns": [rf"^.pass.*\b{number}$"], **more}


def plan(selected: object = (), modified: object = (), new: object = ()) -> str:
    """A planner's answer."""
    return json.dumps({"selected_rule_ids": selected, "modified_rules": modified, "new_rules": new})


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(NoReply("the model did not answer in 180 s"), id="no answer"),
        pytest.param("", id="an empty answer"),
        pytest.param("I would keep all rules.", id="words"),
        pytest.param("[]", id="a list"),
        pytest.param('{"selected_rule_ids": "pip_install"}', id="a text for a list"),
        pytest.param('{"new_rules": []}', id="a field too few"),
        pytest.param(plan()[:-1] + ', "comment": []}', id="a field too many"),
        pytest.param(plan(["no_such_rule"]), id="names that nobody has"),
        pytest.param(plan([], [], [{"rule_id": "x"}]), id="nothing that can be used"),
    ],
)
def test_a_planner_that_fails_changes_nothing(reply: str | NoReply) -> None:
    """The rules in use stay: the released code falls back to all rules, or to none."""
    outcome = answered(PLAN, reply)

    assert (outcome.selected, outcome.proposed) == (None, ())
    assert len(outcome.refused) == 1
    assert outcome.refused[0].reason


@pytest.mark.parametrize("about", ALL.values(), ids=ALL)
def test_no_reply_has_its_reason_on_record(about: About) -> None:
    """As it was thrown in."""
    outcome = answered(about, NoReply("the day's tokens are spent"))

    assert [refusal.reason for refusal in outcome.refused] == ["the day's tokens are spent"]


def test_a_plan_selects_changes_and_adds() -> None:
    """Rules of the pool by name, a changed one with its parent, new ones."""
    changed = {**rule(1), "rule_id": "pip_install", "trigger_regex": r"\bpip install\b"}
    outcome = answered(PLAN, plan(["git_transfer", "pip_install", "git_transfer"], [changed, rule(2)], [rule(3)]))

    assert outcome.selected == (("git_transfer", 1), ("pip_install", 1))
    assert [(proposed.id, proposed.parent) for proposed in outcome.proposed] == [
        ("pip_install_2", "pip_install"), ("r2", None), ("r3", None),
    ]  # fmt: skip
    assert outcome.refused == ()


def test_a_plan_may_choose_none() -> None:
    """An answer that says so is one."""
    outcome = answered(PLAN, plan())

    assert (outcome.selected, outcome.proposed, outcome.refused) == ((), (), ())


def test_a_plan_has_seven_rules_at_most() -> None:
    """Those that it selected come first, then changed ones, then new ones; each that is too many is refused."""
    names = [seed.id for seed in SEEDS]
    outcome = answered(PLAN, plan(names, [rule(1)], [rule(2), rule(3)]))
    cold = answered(COLD, json.dumps({"rules": [rule(n) for n in range(9)]}))

    assert outcome.selected is not None
    assert len(outcome.selected) + len(outcome.proposed) == 7
    assert [proposed.id for proposed in outcome.proposed] == ["r1"]
    assert [refusal.rule_id for refusal in outcome.refused] == ["r2", "r3"]
    assert [proposed.id for proposed in cold.proposed] == [f"r{n}" for n in range(7)]
    assert all("too many rules" in refusal.reason for refusal in (*outcome.refused, *cold.refused))


def test_a_plan_selects_only_what_it_was_shown() -> None:
    """Of forty rules, the thirty at the top; and seven of them at most."""
    pool = tuple(replace(OLD, id=f"p{n}") for n in range(40))
    outcome = answered(Start(task="x", rules=pool), plan([f"p{n}" for n in range(27, 40)]))

    assert outcome.selected == (("p27", 1), ("p28", 1), ("p29", 1))
    seven = answered(Start(task="x", rules=pool), plan([f"p{n}" for n in range(9)]))
    assert seven.selected == tuple((f"p{n}", 1) for n in range(7))
    assert [refusal.rule_id for refusal in seven.refused] == ["p7", "p8"]


def test_a_bad_rule_in_a_plan_costs_no_other() -> None:
    """The selection stands, and so do the good ones."""
    outcome = answered(PLAN, plan(["pip_install", 7], [], [rule(1, keep_patterns=["["]), rule(2)]))

    assert outcome.selected == (("pip_install", 1),)
    assert [proposed.id for proposed in outcome.proposed] == ["r2"]
    assert [refusal.rule_id for refusal in outcome.refused] == ["7", "r1"]


def test_a_cold_plan_proposes_and_selects_nothing() -> None:
    """There is no pool to select from."""
    outcome = answered(
        COLD, "<think>hm</think>```json\n" + json.dumps({"rules": [rule(1), rule(2), rule(3)]}) + "\n```"
    )

    assert outcome.selected is None
    assert [proposed.id for proposed in outcome.proposed] == ["r1", "r2", "r3"]


def test_a_new_rule_fits_the_command_that_it_was_asked_for() -> None:
    """Another is refused, and one that fits is proposed."""
    assert [proposed.id for proposed in answered(NEW, json.dumps(RULE)).proposed] == ["bun_quiet"]
    (refusal,) = answered(NEW, json.dumps(RULE | {"trigger_regex": r"\bdeno\s+test\b"})).refused
    assert "does not fit the command" in refusal.reason


def test_a_new_rule_is_compared_with_the_pool_as_it_is_then() -> None:
    """Two sessions that ask for the same at once get one rule."""
    pool: list[Rule] = []
    first, second = (call(NEW, lambda: tuple(pool), Numbers()) for _ in range(2))
    next(first), next(second)
    outcomes = []
    for calling in (first, second):
        with pytest.raises(StopIteration) as end:
            calling.send(json.dumps(RULE))
        outcomes.append(end.value.value)
        pool.extend(end.value.value.proposed)

    assert [len(outcome.proposed) for outcome in outcomes] == [1, 0]
    assert "says the same as bun_quiet" in outcomes[1].refused[0].reason


def test_a_replacement_has_the_same_trigger_a_new_name_and_its_parent() -> None:
    """And begins with full confidence."""
    softer = {"rule_id": "bun_test", "strip_patterns": ["^.pass"], "keep_patterns": ["note"]}
    for reply in (softer, softer | {"trigger_regex": OLD.trigger.pattern}):
        (new,) = answered(REPLACED, json.dumps(reply), known=(OLD,)).proposed
        assert (new.id, new.parent, new.trigger, new.confidence) == ("bun_test_2", "bun_test", OLD.trigger, 1.0)
        assert (new.times_applied, new.times_complained) == (0, 0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"trigger_regex": "bun"}, "trigger_regex: must be 'bun test'"),
        ({"strip_patterns": ["^.(pass|note)"]}, "same"),
        ({"strip_patterns": ["case"], "keep_first_n": 0}, "no more careful"),
        ({"strip_patterns": []}, "leaves nothing out"),
    ],
    ids=["another trigger", "the old rule again", "more than before", "a rule that keeps everything"],
)
def test_a_replacement_that_is_none_is_refused(change: dict[str, object], words: str) -> None:
    """With the reason."""
    outcome = answered(REPLACED, json.dumps({**RULE, "trigger_regex": "bun test", **change}), known=(OLD,))

    assert outcome.proposed == ()
    assert words in outcome.refused[0].reason


def test_a_rule_that_no_model_can_write_is_not_asked_about() -> None:
    """The call ends before it began."""
    scored = replace(OLD, kind="line_score", params={})
    with pytest.raises(StopIteration) as end:
        next(call(replace(REPLACED, rule=scored), tuple, Numbers()))

    assert "line_score" in end.value.value.refused[0].reason


JSONS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from([*RULE, "rules", "selected_rule_ids"]), inner),
    max_leaves=12,
)


@given(value=JSONS, about=st.sampled_from(list(ALL.values())), words=st.text())
def test_no_answer_raises(value: object, about: About, words: str) -> None:
    """Whatever a model says comes to an outcome; what is not taken has a reason."""
    outcome = answered(about, words + json.dumps(value))

    assert all(refusal.reason for refusal in outcome.refused)
    assert outcome.proposed or outcome.refused or outcome.selected is not None or "rules" in str(value)
