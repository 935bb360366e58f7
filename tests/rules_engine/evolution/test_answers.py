"""Reading what a model answered: one object, whatever stands around it, and nothing that was not its answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.evolution.answers import LONGEST_ANSWER, check, find_object
from rules_engine.types import RuleError

RULE = {"rule_id": "pip_install", "trigger_regex": r"\bpip\d* install\b", "strip_patterns": [r"^\s*\{", "}{"]}
TEXT = json.dumps(RULE)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("I cannot help with that.", id="words"),
        pytest.param("{}", id="an empty object"),
        pytest.param("[1, 2]", id="a list"),
        pytest.param('{"name": "x"}', id="another object"),
        pytest.param('{"rule": ' + TEXT + "}", id="the object in another one"),
        pytest.param(TEXT[:-3], id="cut off"),
        pytest.param(f"<think>{TEXT}</think>", id="in the thoughts only"),
        pytest.param(f"<think>perhaps {TEXT}", id="in thoughts that were cut off"),
        pytest.param(TEXT.replace('"pip_install"', "NaN"), id="no number of JSON's"),
        pytest.param('{"rule_id": "a", "rule_id": "b"}', id="a field twice"),
        pytest.param(TEXT + " or " + TEXT.replace("pip_", "uv_"), id="two that differ"),
        pytest.param(TEXT + " " * LONGEST_ANSWER, id="too long"),
        pytest.param('{"rule_id": ' + "[" * 100_000, id="nested without end"),
        pytest.param("{" * 100_000 + TEXT, id="braces without end"),
    ],
)
def test_no_answer(text: str) -> None:
    """It is refused, in a moment, with a reason."""
    with pytest.raises(RuleError, match=r"answer|field|number"):
        find_object(text, "rule_id")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(TEXT, id="bare"),
        pytest.param(f"```json\n{TEXT}\n```", id="in a fence"),
        pytest.param(f"Sure! {{here}} it is:\n\n{TEXT}\n\nGood luck with {{that}}.", id="among words with braces"),
        pytest.param(f'<think>Maybe {{"rule_id": 1}}? No.</think>\n{TEXT}', id="after thoughts with a draft"),
        pytest.param(f"so let me think\n</think>\n{TEXT}", id="after thoughts that began in the prompt"),
        pytest.param(f"{TEXT}\nAgain:\n{TEXT}", id="twice the same"),
        pytest.param(json.dumps(RULE, indent=2), id="indented"),
    ],
)
def test_an_answer(text: str) -> None:
    """It is found, braces in its patterns and all."""
    assert find_object(text, "rule_id") == RULE


def test_a_pattern_may_speak_of_thoughts() -> None:
    """An answer that is bare is read as it is."""
    rule = RULE | {"strip_patterns": ["</think>"]}

    assert find_object(json.dumps(rule), "rule_id") == rule


@given(pattern=st.text(), before=st.text(st.characters(exclude_characters="{<")))
def test_no_pattern_breaks_the_finder(pattern: str, before: str) -> None:
    """The released code counts braces, so that a single one in a pattern loses the rule."""
    rule = {"rule_id": "x", "strip_patterns": [pattern]}
    text = before + json.dumps(rule)
    if "</think>" not in pattern:
        assert find_object(text, "rule_id") == rule


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 3},
        "list": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
        "count": {"type": ["integer", "null"], "minimum": 2, "maximum": 4},
        "one": {"type": "string", "enum": ["this"]},
    },
    "required": ["name"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"name": "abc"}, None),
        ({"name": "a", "list": ["", "x"], "count": None, "one": "this"}, None),
        ({"name": "a", "count": 2}, None),
        ([], "x: must be of type object"),
        ({}, "x.name: is missing"),
        ({"name": ""}, "x.name: its length: must be from 1 to 3, not 0"),
        ({"name": "abcd"}, "not 4"),
        ({"name": None}, "of type string"),
        ({"name": "a", "more": 1}, "x.more: unknown field"),
        ({"name": "a", "list": ["x", 1]}, r"x.list\[1\]: must be of type string"),
        ({"name": "a", "list": ["x"] * 3}, "x.list: its length"),
        ({"name": "a", "list": "x"}, "of type array"),
        ({"name": "a", "count": 1}, "from 2 to 4, not 1"),
        ({"name": "a", "count": 5}, "from 2 to 4"),
        ({"name": "a", "count": True}, "integer or null"),
        ({"name": "a", "count": 2.0}, "integer or null"),
        ({"name": "a", "one": "that"}, "must be 'this'"),
    ],
    ids=["the least", "all", "a number", "a list", "nothing", "too short", "too long", "null", "unknown", "an item",
         "too many items", "a text for a list", "too small", "too large", "a truth", "a fraction", "another word"],
)  # fmt: skip
def test_a_value_is_held_to_its_schema(value: object, words: str | None) -> None:
    """What does not fit is named with its place."""
    if words is None:
        check(value, SCHEMA, "x")
        return
    with pytest.raises(RuleError, match=words):
        check(value, SCHEMA, "x")
