"""Reads what a model answered: the one JSON object in its words, held to a schema."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rules_engine.types import RuleError

LONGEST_ANSWER = 200_000
_TRIES = 200
"""Braces at which an object may begin; prose has few."""
_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "null": (type(None),),
}


def find_object(text: str, *fields: str) -> dict[str, Any]:
    """The object with one of `fields` that stands in `text`. What a model thinks before it answers is no answer.

    Raises `RuleError` where there is none, or two that differ.
    """
    if len(text) > LONGEST_ANSWER:
        raise RuleError(f"the answer has {len(text)} characters; {LONGEST_ANSWER} are read")
    answers: list[dict[str, Any]] = []
    for found in _objects(_without_thoughts(text)):
        if any(field in found for field in fields) and found not in answers:
            answers.append(found)
    if not answers:
        raise RuleError(f"the answer holds no JSON object with {' or '.join(fields)}")
    if len(answers) > 1:
        raise RuleError(f"the answer holds {len(answers)} JSON objects that differ; one is asked for")
    return answers[0]


def check(value: object, schema: Mapping[str, Any], place: str) -> None:
    """Hold a value to a schema of the words that `prompts` uses. Raises `RuleError` naming the place."""
    if "enum" in schema and value not in schema["enum"]:
        raise RuleError(f"{place}: must be {schema['enum'][0]!r}")
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if isinstance(value, bool) or not isinstance(value, tuple(kind for name in kinds for kind in _TYPES[name])):
        raise RuleError(f"{place}: must be of type {' or '.join(kinds)}")
    if isinstance(value, int):
        _check_range(value, schema, "minimum", "maximum", place)
    elif isinstance(value, str):
        _check_range(len(value), schema, "minLength", "maxLength", f"{place}: its length")
    elif isinstance(value, list):
        _check_range(len(value), schema, "minItems", "maxItems", f"{place}: its length")
        for at, item in enumerate(value):
            check(item, schema["items"], f"{place}[{at}]")
    elif isinstance(value, dict):
        _check_fields(value, schema, place)


def _check_fields(value: Mapping[str, object], schema: Mapping[str, Any], place: str) -> None:
    known = schema["properties"]
    for name in schema["required"]:
        if name not in value:
            raise RuleError(f"{place}.{name}: is missing")
    for name, item in value.items():
        if name not in known:
            raise RuleError(f"{place}.{name}: unknown field")
        check(item, known[name], f"{place}.{name}")


def _check_range(value: int, schema: Mapping[str, Any], least: str, most: str, place: str) -> None:
    low, high = schema.get(least, 0), schema.get(most, value)
    if not low <= value <= high:
        raise RuleError(f"{place}: must be from {low} to {high}, not {value}")


def _without_thoughts(text: str) -> str:
    """What follows the thoughts; nothing follows those that were cut off."""
    _, closed, answer = text.rpartition("</think>")
    if not closed:
        return "" if text.lstrip().startswith("<think>") else text
    # a whole answer may speak of the word in a pattern
    return text if text.lstrip().startswith("{") else answer


def _objects(text: str) -> list[dict[str, Any]]:
    """The objects that stand in `text` and in no other object, read by JSON's own rules: a brace in a string is none."""
    found: list[dict[str, Any]] = []
    decoder = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse)
    at = text.find("{")
    for _ in range(_TRIES):
        if at < 0:
            break
        try:
            value, end = decoder.raw_decode(text, at)
            found.append(value)
        except RecursionError as error:
            raise RuleError("the answer is nested too deeply") from error
        except ValueError:
            end = at + 1
        at = text.find("{", end)
    return found


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise RuleError("a field stands twice in one object of the answer")
    return value


def _refuse(word: str) -> object:
    raise RuleError(f"{word} is no number of JSON's")
