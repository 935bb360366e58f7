"""TACO's own JSON: reads a pool that the original made, and writes one that it can read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rules_engine.kinds import KINDS, line_filter
from rules_engine.scan import compile_trigger
from rules_engine.types import Rule, RuleError, Trigger

FORMAT = 1
"""Version of what we add under `taco_gateway`; the original passes over it."""

_LARGEST = 8_000_000
_MOST = 10_000
_OWN = "taco_gateway"
_NUMBERS: Mapping[str, float] = {"priority": 42, "confidence": 1.0, "times_applied": 0, "times_complained": 0}
_KNOWN = frozenset({"rule_id", "trigger_regex", "description", _OWN, *_NUMBERS, *line_filter.FIELDS})
_EXTRAS: Mapping[str, type] = {
    "version": int,
    "parent": str,
    "provenance": str,
    "on_failing": bool,
    "kind": str,
    "params": dict,
    "evidence": dict,
}
_EVIDENCE = 100_000
"""Characters of a rule's evidence, as JSON."""


def load(text: str) -> tuple[Rule, ...]:
    """The rules of a pool (lists by category), of a list, or one rule. Raises `RuleError` with field and remedy."""
    if len(text) > _LARGEST:
        raise RuleError(f"the file has {len(text)} characters; split it into files of at most {_LARGEST}")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RuleError(f"this is not JSON: {error}; export the pool again") from error
    rules: list[Rule] = []
    seen: dict[tuple[str, int], str] = {}
    for place, item in _items(data):
        rule = _read(item, place)
        name = (rule.id, rule.version)
        if name in seen:
            raise RuleError(f"{place}: {rule.id!r} stands at {seen[name]} already; remove one of them")
        seen[name] = place
        rules.append(rule)
        if len(rules) > _MOST:
            raise RuleError(f"more than {_MOST} rules; split the file")
    return tuple(rules)


def dump(rules: Iterable[Rule]) -> str:
    """A pool in TACO's JSON; `load` gives the same rules back."""
    return json.dumps({"general": [_write(rule) for rule in rules]}, ensure_ascii=False, indent=2) + "\n"


def _items(data: object) -> Iterator[tuple[str, Any]]:
    if isinstance(data, list):
        data = {"rules": data}
    elif isinstance(data, dict) and "rule_id" in data:
        data = {"rules": [data]}
    if not isinstance(data, dict):
        raise RuleError("expected a pool, a list of rules or one rule; give a JSON object or list")
    for category, items in data.items():
        if not isinstance(items, list):
            raise RuleError(f"{category}: must be a list of rules; a single rule needs a rule_id")
        for place, item in enumerate(items):
            yield f"{category}[{place}]", item


def _read(item: object, place: str) -> Rule:
    if not isinstance(item, dict):
        raise RuleError(f"{place}: must be an object with at least rule_id and trigger_regex")
    try:
        return _rule(item)
    except RuleError as error:
        raise RuleError(f"{place}.{error}") from error


def _rule(item: Mapping[str, Any]) -> Rule:
    for field in item:
        if field not in _KNOWN:
            raise RuleError(f"{field}: unknown; remove it, or upgrade if a newer version wrote it")
    trigger = _text(item, "trigger_regex")
    compile_trigger(trigger)
    extras = _extras(item)
    kind = extras.setdefault("kind", "line_filter")
    if kind not in KINDS:
        raise RuleError(f"{_OWN}.kind: {kind!r} is unknown; upgrade taco-gateway, or leave the rule out")
    if kind == "line_filter":
        if "params" in extras:
            raise RuleError(f"{_OWN}.params: a line filter's stand beside trigger_regex; move them there")
        extras["params"] = {name: item[name] for name in line_filter.FIELDS if name in item}
    KINDS[kind].parse(extras.setdefault("params", {}))
    return Rule(
        id=_text(item, "rule_id"),
        trigger=Trigger(pattern=trigger),
        description=_text(item, "description", ""),
        priority=_number(item, "priority", 1000),
        confidence=_confidence(item),
        times_applied=_number(item, "times_applied"),
        times_complained=_number(item, "times_complained"),
        **extras,
    )


def _text(item: Mapping[str, Any], field: str, default: str | None = None) -> str:
    value = item.get(field, default)
    if not isinstance(value, str) or (not value and default is None):
        raise RuleError(f"{field}: must be text" + ("" if field in item else "; it is missing"))
    if len(value) > 2000:
        raise RuleError(f"{field}: has {len(value)} characters; shorten it to 2000")
    return value


def _number(item: Mapping[str, Any], field: str, most: int = 2**53) -> int:
    value: object = item.get(field, _NUMBERS[field])
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
        raise RuleError(f"{field}: must be a whole number from 0 to {most}")
    return value


def _confidence(item: Mapping[str, Any]) -> float:
    value = item.get("confidence", 1.0)
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1:
        raise RuleError("confidence: must be a number from 0 to 1")
    return float(value)


def _extras(item: Mapping[str, Any]) -> dict[str, Any]:
    own = item.get(_OWN, {})
    if not isinstance(own, dict):
        raise RuleError(f"{_OWN}: must be an object")
    written = own.get("format", FORMAT)
    if written != FORMAT or isinstance(written, bool):
        raise RuleError(f"{_OWN}.format: this version reads {FORMAT}, the file has {written!r}; upgrade taco-gateway")
    extras = {field: value for field, value in own.items() if field != "format"}
    for field, value in extras.items():
        if field not in _EXTRAS:
            raise RuleError(f"{_OWN}.{field}: unknown; remove it")
        if type(value) is not _EXTRAS[field]:
            raise RuleError(f"{_OWN}.{field}: must be of type {_EXTRAS[field].__name__}")
    if extras.get("version", 1) < 1:
        raise RuleError(f"{_OWN}.version: must be at least 1")
    if len(json.dumps(extras.get("evidence", {}))) > _EVIDENCE:
        raise RuleError(f"{_OWN}.evidence: has more than {_EVIDENCE} characters as JSON; leave figures only")
    return extras


def _write(rule: Rule) -> dict[str, object]:
    extras = {field: getattr(rule, field) for field in _EXTRAS if getattr(rule, field) not in (None, {})}
    params = extras.pop("params", {})
    if rule.kind == "line_filter":
        del extras["kind"]
    else:  # the original finds lists that do nothing, and passes over ours
        extras["params"], params = dict(params), {"keep_patterns": [], "strip_patterns": []}
    return {
        "rule_id": rule.id,
        "trigger_regex": rule.trigger.pattern,
        "description": rule.description,
        **params,
        **{field: getattr(rule, field) for field in _NUMBERS},
        _OWN: {"format": FORMAT, **extras},
    }
