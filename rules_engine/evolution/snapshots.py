"""A pool as text, so that a start need not fold all events that there ever were.

load_pool(dump_pool(pool), pool.numbers) == pool
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, astuple, fields
from hashlib import blake2b
from typing import Any

from rules_engine.evolution.entries import Entry, Standing
from rules_engine.evolution.events import rule_from_fields, rule_to_fields
from rules_engine.evolution.numbers import Numbers
from rules_engine.evolution.pool import Pool
from rules_engine.types import Rule, RuleError

FORMAT = 1
"""To be raised whenever the same events come to another pool than before, or a pool to another text."""

_NAMES = tuple(field.name for field in fields(Entry))


def fingerprint(numbers: Numbers, built_in: Iterable[Rule]) -> str:
    """Names what a pool depends on beside its events: under another name a snapshot says nothing."""
    ground = [FORMAT, _NAMES, asdict(numbers), [rule_to_fields(rule) for rule in built_in]]
    return blake2b(json.dumps(ground, sort_keys=True).encode(), digest_size=12).hexdigest()


def dump_pool(pool: Pool) -> str:
    """The pool as JSON, but for its numbers."""
    tops = [[number, time, contents] for number, (time, contents) in pool.tops.items()]
    return json.dumps([pool.ended, tops, [_to_fields(entry) for entry in pool.entries.values()]])


def load_pool(text: str, numbers: Numbers) -> Pool:
    """What `dump_pool` wrote. Raises `RuleError` if it is damaged."""
    try:
        ended, tops, entries = json.loads(text)
        found = [_from_fields(values) for values in entries]
        return Pool(
            numbers=numbers,
            entries={entry.ref: entry for entry in found},
            ended=int(ended),
            tops={number: (time, tuple(contents)) for number, time, contents in tops},
        )
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise RuleError(f"the snapshot of a pool is damaged: {error!r}; its events are used") from error


def _to_fields(entry: Entry) -> dict[str, object]:
    values = {name: getattr(entry, name) for name in _NAMES}
    return values | {
        "rule": rule_to_fields(entry.rule),
        "lives": {key: astuple(life) for key, life in entry.lives.items()},
        "hand": None if entry.hand is None else astuple(entry.hand),
        "places": sorted(entry.places),
    }


def _from_fields(values: Mapping[str, Any]) -> Entry:
    rank, time, key = values["claim"]
    changed = {
        "rule": rule_from_fields(values["rule"]),
        "claim": (rank, time, key),
        "named": tuple(values["named"]),
        "lives": {key: Standing(*life) for key, life in values["lives"].items()},
        "hand": None if values["hand"] is None else Standing(*values["hand"]),
        "places": frozenset(values["places"]),
        "ends": tuple((time, session, confidence) for time, session, confidence in values["ends"]),
    }
    return Entry(**{**values, **changed})
