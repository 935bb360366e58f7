"""TACO's JSON is read and written, and what cannot be used is refused with field and remedy."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine import taco
from rules_engine.kinds import KINDS
from rules_engine.seeds import SEEDS
from rules_engine.types import Rule, RuleError, Trigger

RULE = {"rule_id": "npm_install", "trigger_regex": r"\bnpm (?:ci|install)\b"}


def load_with(**fields: object) -> Rule:
    """A pool of one rule with these fields, read."""
    (rule,) = taco.load(json.dumps({"general": [RULE | fields]}))
    return rule


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(json.dumps({"general": [RULE]}), id="a pool"),
        pytest.param(json.dumps([RULE]), id="a list"),
        pytest.param(json.dumps(RULE), id="one rule"),
        pytest.param(json.dumps({"general": [], "build": [RULE]}), id="a pool of several categories"),
    ],
)
def test_the_forms_of_a_pool(text: str) -> None:
    """A pool, a list and a single rule are read alike, with TACO's defaults."""
    assert taco.load(text) == (
        Rule(id="npm_install", kind="line_filter", trigger=Trigger(pattern=RULE["trigger_regex"]), params={}),
    )


def test_an_empty_pool() -> None:
    """A pool without rules is one."""
    assert taco.load('{"general": []}') == ()


def test_the_originals_fields_are_read() -> None:
    """All fields that the original writes are understood."""
    params = {
        "keep_patterns": ["added"],
        "strip_patterns": ["^npm http"],
        "keep_first_n": 3,
        "keep_last_n": 4,
        "max_lines": None,
        "summary_header": "[npm]",
    }
    rule = load_with(**params, description="d", priority=50, confidence=0.5, times_applied=9, times_complained=2)
    assert rule.params == params
    assert (rule.description, rule.priority, rule.confidence, rule.times_applied, rule.times_complained) == (
        "d",
        50,
        0.5,
        9,
        2,
    )


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        pytest.param({"rule_id": ""}, "rule_id: must be text", id="no name"),
        pytest.param({"rule_id": 7}, "rule_id: must be text", id="a number for a name"),
        pytest.param({"trigger_regex": None}, "trigger_regex: must be text", id="no trigger"),
        pytest.param({"trigger_regex": "("}, "trigger_regex: missing )", id="a broken trigger"),
        pytest.param({"trigger_regex": ".*"}, "name the command", id="a trigger for everything"),
        pytest.param({"trigger_regex": "a" * 1001}, "shorten it to 1000", id="a trigger without end"),
        pytest.param(
            {"keep_patterns": ["a", "["]}, "keep_patterns[1]: missing ]", id="an invalid keep pattern is not dropped"
        ),
        pytest.param({"strip_patterns": ["a"] * 65}, "leave at most 64", id="too many patterns"),
        pytest.param({"keep_first_n": "5"}, "keep_first_n: must be a whole number", id="a text for a number"),
        pytest.param({"priority": -1}, "priority: must be a whole number", id="a negative priority"),
        pytest.param({"times_applied": 1.5}, "times_applied: must be a whole number", id="half a use"),
        pytest.param({"confidence": 2}, "confidence: must be a number from 0 to 1", id="more than certain"),
        pytest.param({"confidence": float("nan")}, "confidence: must be a number from 0 to 1", id="not a number"),
        pytest.param({"description": "x" * 2001}, "description: has 2001 characters; shorten", id="a long description"),
        pytest.param({"since": "2026"}, "since: unknown; remove it", id="an unknown field"),
        pytest.param({"taco_gateway": {"format": 2}}, "upgrade taco-gateway", id="a newer format of ours"),
        pytest.param({"taco_gateway": {"format": True}}, "upgrade taco-gateway", id="a truth value for a format"),
        pytest.param({"taco_gateway": []}, "taco_gateway: must be an object", id="ours is no object"),
        pytest.param({"taco_gateway": {"until": 1}}, "taco_gateway.until: unknown", id="an unknown field of ours"),
        pytest.param(
            {"taco_gateway": {"version": "1"}}, "taco_gateway.version: must be of type int", id="a text for a version"
        ),
        pytest.param({"taco_gateway": {"version": 0}}, "taco_gateway.version: must be at least 1", id="version nought"),
    ],
)
def test_rules_that_are_refused(fields: dict[str, object], says: str) -> None:
    """A refusal names the place, the field and what to do."""
    with pytest.raises(RuleError, match=re.escape(says)) as refusal:
        load_with(**fields)
    assert str(refusal.value).startswith("general[0].")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("", "not JSON", id="nothing"),
        pytest.param('{"general": [', "not JSON", id="half a file"),
        pytest.param("[" * 100_000, "not JSON", id="nesting without end"),
        pytest.param("3", "expected a pool", id="a number"),
        pytest.param('{"general": {}}', "general: must be a list", id="a category that is no list"),
        pytest.param('{"general": [1]}', "general[0]: must be an object", id="a rule that is no object"),
        pytest.param(
            '{"general": [{"rule_id": "a"}]}', "general[0].trigger_regex: must be text; it is missing", id="half a rule"
        ),
        pytest.param(json.dumps([RULE, RULE]), "'npm_install' stands at rules[0] already", id="the same rule twice"),
        pytest.param(
            json.dumps([RULE | {"rule_id": str(n)} for n in range(10_001)]), "split the file", id="too many rules"
        ),
        pytest.param(" " * 8_000_001, "split it", id="too large a file"),
    ],
)
def test_files_that_are_refused(text: str, says: str) -> None:
    """A file that is no pool says so."""
    with pytest.raises(RuleError, match=re.escape(says)):
        taco.load(text)


PATTERNS = st.lists(st.text(alphabet='abc .*+é日"\\/', min_size=1, max_size=8).map(re.escape), max_size=4)
PARAMS = st.fixed_dictionaries(
    {},
    optional={
        "keep_patterns": PATTERNS,
        "strip_patterns": PATTERNS,
        "keep_first_n": st.integers(0, 99),
        "keep_last_n": st.integers(0, 99),
        "max_lines": st.none() | st.integers(0, 99),
        "summary_header": st.none() | st.text(max_size=9),
    },
)
RULES = st.builds(
    Rule,
    id=st.text(min_size=1, max_size=20),
    version=st.integers(1, 99),
    kind=st.just("line_filter"),
    trigger=st.builds(Trigger, pattern=st.sampled_from([r"\bmake\b", "^é+", "(?s)a\nb"])),
    params=PARAMS,
    description=st.text(max_size=30),
    priority=st.integers(0, 1000),
    confidence=st.floats(0, 1),
    times_applied=st.integers(0, 2**53),
    times_complained=st.integers(0, 2**53),
    parent=st.none() | st.text(max_size=9),
    provenance=st.sampled_from(["seed", "miner"]),
    on_failing=st.booleans(),
    evidence=st.dictionaries(st.sampled_from(["lines", "bound"]), st.integers(0, 99) | st.floats(0, 1), max_size=2),
)


@given(st.lists(RULES, max_size=4, unique_by=lambda rule: (rule.id, rule.version)))
def test_what_is_written_is_read(rules: list[Rule]) -> None:
    """A pool that was written is read as it was."""
    assert taco.load(taco.dump(rules)) == tuple(rules)


def test_the_original_reads_what_is_written() -> None:
    """Rules stand in the original's category, under its field names; ours are apart, where it passes over them."""
    (written,) = json.loads(taco.dump(SEEDS[:1]))["general"]
    assert written["rule_id"] == "git_transfer"
    assert written["taco_gateway"]["format"] == taco.FORMAT
    assert {"trigger_regex", "strip_patterns", "keep_first_n", "priority", "confidence", "times_applied"} <= set(
        written
    )


def test_the_seeds_are_written_and_read() -> None:
    """The starting rules survive an export and an import."""
    assert taco.load(taco.dump(SEEDS)) == SEEDS


class Window:
    """A kind that knows one param."""

    VERSION = 1

    def parse(self, raw: Mapping[str, object]) -> object:
        """Its size."""
        if set(raw) != {"size"}:
            raise RuleError("size: is missing")
        return raw["size"]

    def drop(self, lines: tuple[str, ...], params: object, protected: frozenset[int]) -> tuple[int, ...]:
        """Nothing."""
        return ()


def test_a_rule_of_another_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its params and evidence stand where the original passes over them, beside lists that do nothing there."""
    monkeypatch.setitem(cast("dict[str, object]", KINDS), "window", Window())
    rule = replace(SEEDS[0], kind="window", params={"size": 3}, evidence={"outputs": 412, "bound": 0.01})
    text = taco.dump([rule])
    assert taco.load(text) == (rule,)
    (item,) = json.loads(text)["general"]
    assert (item["keep_patterns"], item["strip_patterns"]) == ([], [])
    assert item["taco_gateway"]["params"] == {"size": 3}


@pytest.mark.parametrize(
    ("own", "said"),
    [
        pytest.param({"kind": "later"}, r"taco_gateway.kind: 'later' is unknown", id="a kind of a newer version"),
        pytest.param({"kind": "window"}, r"size: is missing", id="params that its kind refuses"),
        pytest.param({"params": {"size": 3}}, r"taco_gateway.params: a line filter's stand beside", id="params twice"),
        pytest.param(
            {"evidence": {"x": "y" * 100_000}}, r"taco_gateway.evidence: has more than", id="a text as evidence"
        ),
        pytest.param({"evidence": 3}, r"taco_gateway.evidence: must be of type dict", id="no evidence"),
    ],
)
def test_what_we_add_is_checked(monkeypatch: pytest.MonkeyPatch, own: dict[str, object], said: str) -> None:
    """The error names the field."""
    monkeypatch.setitem(cast("dict[str, object]", KINDS), "window", Window())
    with pytest.raises(RuleError, match=said):
        taco.load(json.dumps({"rule_id": "x", "trigger_regex": "x", "taco_gateway": own}))
