"""The pool that comes with the package: patterns and figures only, each with enough witnesses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from gateway.config import Config, Rewriting
from gateway.evolving.rules import SHIPPED, built_in, read_rules
from rules_engine.taco import dump

RULES = read_rules(SHIPPED)


def strings(value: Any) -> Iterator[str]:
    """All strings in a JSON value, names of fields included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


def test_the_pool_is_used_unless_it_is_switched_off() -> None:
    """Whoever wants no rules learned elsewhere has none."""
    assert {rule.id for rule in RULES} <= {rule.id for rule in built_in(Config())}
    off = Config(rewriting=Rewriting(seed_rules=False, shipped_rules=False))
    assert built_in(off) == ()


def test_the_pool_is_as_it_was_learned() -> None:
    """Nobody wrote in it by hand: written again it is the same."""
    assert SHIPPED.read_text(encoding="utf-8") == dump(RULES)


def test_each_rule_has_its_evidence() -> None:
    """Sources and sessions that taught it, and what a trial over all of them found."""
    assert RULES
    for rule in RULES:
        trial: Any = rule.evidence["trial"]
        assert rule.provenance in ("mined", "learned")
        assert trial["sessions"] >= 3
        assert trial["parts"] >= 2
        assert trial["lost"] <= 0.006 * trial["used"]
        sources: Any = rule.evidence["sources"]
        assert sources >= 3


def test_there_is_nothing_of_the_recordings_in_it() -> None:
    """Evidence consists of figures and of shapes; no string is a sentence, a path, an address or a key."""
    for rule in RULES:
        found = list(strings(json.loads(json.dumps(dict(rule.evidence)))))
        assert all(len(text) <= 60 and "/" not in text and "@" not in text for text in found)
        assert all(len(text.split()) <= 3 for text in found)
