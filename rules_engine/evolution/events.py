"""What happens to rules, as events in plain JSON; a pool is what they add up to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from hashlib import blake2b
from math import isfinite
from typing import Any, Literal, get_args

from rules_engine.types import Rule, RuleError, RuleRef, Trigger

FORMAT = 1
"""Version of the JSON."""

EventName = Literal[
    "proposed",  # somebody thought of it
    "admitted",  # it passed admission (it should be told with the rule): it is decided, and not applied, from now on
    "refused",  # it did not, or its first task complained; data: reason
    "promoted",  # data: stage
    "applied",  # in shadow, by the end of a session; data: applied, removed
    "complained",  # a session missed what it left out
    "frozen",  # so it is off for that session
    "written_back",  # a session ended without complaint; data: applied, removed, confidence, place
    "retired",  # it is off for good; data: reason
    "disabled",  # by hand
    "enabled",  # by hand
    "rolled_back",  # by hand: this version is in use, and no later one that there is
    "imported",  # by hand; data: stage, if it is not to be live at once
    "ended",  # a session did, whatever rules it had
    "batch",  # so many sessions ended; data: number, top
]

NAMES: frozenset[str] = frozenset(get_args(EventName))

_REDACTED = "[redacted:"


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolEvent:
    """One thing that happened to a rule, or to the pool."""

    name: EventName
    rule: Rule | None = None
    """The rule, where the event brings it into the pool."""
    ref: RuleRef | None = None
    """Name and version of the rule, where the pool has it already."""
    tenant: str = ""
    """Whose pool; "" is the reviewed one that all share."""
    session: str = ""
    time: float = 0.0
    """Seconds since the epoch."""
    data: Mapping[str, object] = field(default_factory=dict)
    """What else the event says, by the names that `EventName` lists; plain JSON."""

    def subject(self) -> RuleRef | None:
        """Name and version of the rule that it is about; `None` for an event about the whole pool."""
        return ref_of(self.rule) if self.rule else self.ref

    def count(self, name: str) -> int:
        """A count in its data; 0 where there is none that makes sense."""
        value = self.data.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0

    def text(self, name: str) -> str:
        """A text in its data, or ""."""
        value = self.data.get(name)
        return value if isinstance(value, str) else ""

    def share(self, name: str, default: float) -> float:
        """A number from 0 to 1 in its data."""
        value = self.data.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
            return default
        return min(1.0, max(0.0, float(value)))


def ref_of(rule: Rule) -> RuleRef:
    """The name that decisions and events call a rule by."""
    return rule.id, rule.version


def content_key(rule: Rule) -> str:
    """Names what a rule does, whatever it is called and wherever it comes from."""
    does = [rule.kind, rule.trigger.pattern, dict(rule.params), rule.on_failing]
    return blake2b(json.dumps(does, sort_keys=True).encode(), digest_size=12).hexdigest()


def dump_event(event: PoolEvent) -> str:
    """The event as JSON for a store."""
    rule = None if event.rule is None else rule_to_fields(event.rule)
    body = {"format": FORMAT, "name": event.name, "rule": rule, "ref": event.ref, "data": dict(event.data)}
    return json.dumps(body | {"tenant": event.tenant, "session": event.session, "time": event.time}, ensure_ascii=False)


def load_event(text: str) -> PoolEvent:
    """Read what `dump_event` wrote. Raises `RuleError` if it is damaged, newer, or if a secret was cut out of its rule."""
    try:
        body = json.loads(text)
        if body["format"] != FORMAT or body["name"] not in NAMES:
            raise RuleError(f"a pool event from a newer version ({body['name']!r}); upgrade taco-gateway")
        return PoolEvent(
            name=body["name"],
            rule=None if body["rule"] is None else rule_from_fields(body["rule"]),
            ref=None if body["ref"] is None else (str(body["ref"][0]), int(body["ref"][1])),
            tenant=str(body["tenant"]),
            session=str(body["session"]),
            time=float(body["time"]),
            data=dict(body["data"]),
        )
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as error:
        raise RuleError(f"a pool event is damaged: {error!r}; the others are used") from error


def rule_to_fields(rule: Rule) -> dict[str, object]:
    """A rule as plain JSON."""
    values = {field.name: getattr(rule, field.name) for field in fields(Rule)}
    return values | {"trigger": rule.trigger.pattern, "params": dict(rule.params), "evidence": dict(rule.evidence)}


def rule_from_fields(values: Mapping[str, Any]) -> Rule:
    """What `rule_to_fields` wrote. Raises `RuleError` if a secret was cut out of it since."""
    # In a pattern the brackets would be a class of characters: it would match, and something else than before.
    if _REDACTED in json.dumps([values["trigger"], values["params"]], ensure_ascii=False):
        raise RuleError(f"{values['id']}: a secret stood in its patterns and was cut out; propose it without")
    return Rule(**{**values, "trigger": Trigger(pattern=values["trigger"])})
