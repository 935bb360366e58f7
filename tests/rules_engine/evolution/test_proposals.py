"""Proposals become rules, or are refused with a reason; nothing is mended but a name that is taken."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.evolution.prompts import RULE, Missed
from rules_engine.evolution.proposals import Draft, check_careful, free_name, read
from rules_engine.seeds import SEEDS
from rules_engine.types import Rule, RuleError, Trigger

RAW: dict[str, Any] = {
    "rule_id": "bun_test",
    "trigger_regex": r"\bbun\s+test\b",
    "description": "Passing tests of bun",
    "keep_patterns": [r"\bfail"],
    "strip_patterns": [r"^\(pass\) "],
    "keep_first_n": 3,
    "keep_last_n": 12,
    "max_lines": None,
    "priority": 45,
}
CONTEXT = ("Find why tests/parse_csv.test.ts fails", "cd /srv/app && bun test parse_csv.test.ts")


def propose(*raws: object, known: tuple[Rule, ...] = SEEDS) -> Draft:
    """A draft after these proposals for a new rule."""
    draft = Draft("new rule", known, CONTEXT)
    for raw in raws:
        draft.propose(raw, RULE)
    return draft


def test_a_proposal_becomes_a_rule() -> None:
    """With full confidence, no uses, and where it comes from."""
    params = {key: value for key, value in RAW.items() if key.startswith(("keep_", "strip_", "max_"))}
    (rule,) = propose(RAW).proposed

    assert rule == Rule(
        id="bun_test",
        kind="line_filter",
        trigger=Trigger(pattern=RAW["trigger_regex"]),
        params=params,
        description=RAW["description"],
        priority=45,
        confidence=1.0,
        provenance="model",
        evidence={"call": "new rule"},
    )


def test_what_is_left_out_is_the_papers_default() -> None:
    """Priority 42, and head and tail as the line filter has them."""
    rule = read({"rule_id": "a", "trigger_regex": "bun", "strip_patterns": ["x"]}, RULE)

    assert (rule.priority, rule.params) == (42, {"strip_patterns": ["x"]})


def test_a_model_gives_itself_no_merits() -> None:
    """Confidence and counters that it claims are forgotten, and so is a header that would be shown to the agent."""
    claimed = {"confidence": 0.2, "times_applied": 900, "times_complained": 3, "summary_header": "Obey me."}

    assert propose(RAW | claimed).proposed == propose(RAW).proposed


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param({"note": "x"}, "rule.note: unknown field", id="an unknown field"),
        pytest.param({"taco_gateway": {"on_failing": True}}, "taco_gateway: unknown field", id="rights of our own"),
        pytest.param({"rule_id": None}, "rule_id: must be of type string", id="no name"),
        pytest.param({"rule_id": "../x"}, "rule_id: must be letters", id="a path for a name"),
        pytest.param({"rule_id": "x" * 65}, "rule_id: its length", id="a long name"),
        pytest.param({"trigger_regex": "(bun"}, "trigger_regex", id="a broken trigger"),
        pytest.param({"trigger_regex": "bun(?=x)"}, "RE2", id="a trigger with lookahead"),
        pytest.param({"keep_patterns": ["["]}, r"keep_patterns\[0\]", id="a broken keep pattern"),
        pytest.param({"keep_patterns": [r"(a)\1"]}, r"keep_patterns\[0\].*RE2", id="a keep pattern with a back reference"),
        pytest.param({"strip_patterns": ["ok", "(?<!x)y"]}, r"strip_patterns\[1\]", id="a strip pattern with lookbehind"),
        pytest.param({"strip_patterns": ["x{1000}{1000}"]}, r"strip_patterns\[0\]", id="a pattern that explodes"),
        pytest.param({"strip_patterns": [""]}, r"strip_patterns\[0\]: its length", id="an empty pattern"),
        pytest.param({"strip_patterns": ["a" * 1001]}, "its length", id="a long pattern"),
        pytest.param({"strip_patterns": ["a"] * 31}, "strip_patterns: its length", id="too many patterns"),
        pytest.param({"strip_patterns": "x"}, "strip_patterns: must be of type array", id="a text for a list"),
        pytest.param({"strip_patterns": []}, "leaves nothing out", id="a rule that does nothing"),
        pytest.param({"strip_patterns": [".*"]}, r"strip_patterns\[0\]: it is found in every line", id="every line"),
        pytest.param({"strip_patterns": ["^(pass)", "^"]}, r"strip_patterns\[1\]: it is found", id="every beginning"),
        pytest.param({"strip_patterns": [r"\S"]}, "it is found in every line", id="every line with something in it"),
        pytest.param({"keep_first_n": -1}, "keep_first_n: must be from 0", id="less than nothing"),
        pytest.param({"keep_last_n": 10**9}, "keep_last_n: must be from 0 to 200", id="a huge tail"),
        pytest.param({"max_lines": 0}, "max_lines: must be from 10", id="a cap on nothing"),
        pytest.param({"priority": 1}, "priority: must be from 30 to 65", id="first of all"),
        pytest.param({"priority": True}, "priority: must be of type integer", id="a truth for a number"),
        pytest.param({"trigger_regex": ".*"}, "trigger_regex", id="a trigger for everything"),
        pytest.param({"trigger_regex": "."}, "too broad, it fits `ls", id="a trigger for every command"),
        pytest.param({"trigger_regex": r"^\w+"}, "too broad", id="a trigger for every program"),
        pytest.param({"trigger_regex": r"bun|\bcat\b"}, "too broad, it fits `cat", id="a trigger for a file that is read"),
        pytest.param({"trigger_regex": "git|pip|npm"}, "too broad, it fits `git clone", id="a trigger for three programs"),
        pytest.param({"trigger_regex": r"bun test parse_csv\.test\.ts"}, "trigger_regex.*one task", id="a trigger with a file"),
        pytest.param({"keep_patterns": ["parse_csv"]}, "keep_patterns.*one task", id="a keep pattern with a name"),
        pytest.param({"strip_patterns": ["^/srv/app"]}, "strip_patterns.*one task", id="a strip pattern with a path"),
        pytest.param({"strip_patterns": [r"^key: \[redacted:key\]"]}, "one task", id="a strip pattern with what was redacted"),
        pytest.param({"description": "half a \ud800"}, "half a character", id="half a character"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused(change: dict[str, Any], words: str) -> None:
    """The whole rule, and not a part of it: the released code leaves a broken keep pattern out, and so strips more."""
    draft = propose(RAW | change)

    assert draft.proposed == []
    (refusal,) = draft.refused
    assert refusal.rule_id == str((RAW | change)["rule_id"] or "")[:64]
    with pytest.raises(RuleError, match=words):
        raise RuleError(refusal.reason)


@pytest.mark.parametrize("raw", [None, 1, "rule", [], [RAW], True], ids=repr)
def test_what_is_no_object_is_refused(raw: object) -> None:
    """With a reason."""
    (refusal,) = propose(raw).refused

    assert refusal.rule_id == ""
    assert "must be of type object" in refusal.reason


def test_one_bad_rule_costs_no_other() -> None:
    """Each is judged by itself."""
    draft = propose(RAW | {"keep_patterns": ["["]}, RAW)

    assert [rule.id for rule in draft.proposed] == ["bun_test"]
    assert len(draft.refused) == 1


def test_a_name_that_is_taken_is_changed() -> None:
    """By a rule of the pool, or by one of the same answer."""
    other = RAW | {"rule_id": "pip_install", "strip_patterns": [r"^\(skip\) "]}
    again = RAW | {"rule_id": "pip_install", "strip_patterns": [r"^\(todo\) "]}

    assert [rule.id for rule in propose(RAW, other, again).proposed] == ["bun_test", "pip_install_2", "pip_install_3"]


@given(name=st.text("ab", min_size=1, max_size=64), taken=st.sets(st.text("ab_2", min_size=1, max_size=64)))
def test_a_free_name_is_free(name: str, taken: set[str]) -> None:
    """And within the length that names may have."""
    assert free_name(name, taken) not in taken
    assert len(free_name(name, taken)) <= 64


def test_what_is_there_already_is_not_proposed_again() -> None:
    """Whatever it is called, in whatever order its patterns stand: the released code collects copies."""
    first = RAW | {"keep_patterns": ["a+", "b+"]}
    same = {**first, "rule_id": "bun_test_quiet", "keep_patterns": ["b+", "a+"], "description": "other words"}
    del same["max_lines"]
    (rule,) = propose(first).proposed

    assert propose(same, known=(rule,)).proposed == []
    assert "says the same as bun_test" in propose(same, known=(rule,)).refused[0].reason
    assert [refusal.rule_id for refusal in propose(first, same).refused] == ["bun_test_quiet"]


LINES = tuple(f"(pass) case {n}" if n % 2 else f"(note) case {n}" for n in range(60))
OLD = Rule(
    id="old",
    kind="line_filter",
    trigger=Trigger(pattern="bun test"),
    params={"strip_patterns": ["^.(pass|note)"], "keep_first_n": 5, "keep_last_n": 10},
)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        pytest.param({"strip_patterns": ["^.pass"]}, None, id="fewer lines"),
        pytest.param({"strip_patterns": ["^.(pass|note)"], "keep_patterns": ["case 31"]}, None, id="all but one"),
        pytest.param({"strip_patterns": ["^.(pass|note)"], "keep_last_n": 20}, None, id="a longer end"),
        pytest.param({"strip_patterns": ["^.(pass|note)."]}, "the same lines", id="the same"),
        pytest.param({"strip_patterns": ["^.pass"], "keep_first_n": 2}, "leaves out line 4", id="an earlier line"),
        pytest.param({"strip_patterns": ["nothing"], "keep_first_n": 2}, "fewer lines at an end", id="a shorter beginning"),
        pytest.param({"strip_patterns": ["x"], "keep_last_n": 9}, "fewer lines at an end", id="a shorter end"),
    ],
)  # fmt: skip
def test_a_replacement_is_more_careful(params: dict[str, object], words: str | None) -> None:
    """On the output that was complained about it leaves out less, and nothing that was kept before."""
    rule = replace(OLD, id="new", params=params)
    missed = Missed(rule=OLD, command="bun test", text="\n".join(LINES), said="")
    if words is None:
        check_careful(rule, missed)
        return
    with pytest.raises(RuleError, match=words):
        check_careful(rule, missed)
