"""From signals to complaints: evidence about one result adds up against the rules that left out what was missed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from rules_engine.types import RuleRef, Signal, SignalName

THRESHOLD = 0.6
"""Sum of weights from which on the signals against a rule are a complaint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """Rules that left out of one result what the agent needed."""

    name: SignalName
    """Name of the strongest signal."""
    rules: tuple[RuleRef, ...]
    key: str
    """Key of the observation."""
    evidence: tuple[str, ...]
    weight: float
    """Sum of weights against the rule that is most to blame."""


def complaints(signals: Iterable[Signal], threshold: float = THRESHOLD) -> tuple[Complaint, ...]:
    """A complaint for each observation with rules against which enough was said; give it all signals of a session so far.

    A signal that cannot tell which of several rules it was counts a share against each, and such shares do not add up:
    what leaves it open does not become certain by being heard twice.
    """
    by_key: dict[str, list[Signal]] = defaultdict(list)
    for signal in signals:
        by_key[signal.key].append(signal)
    found = (_judge(key, heard, threshold) for key, heard in by_key.items())
    return tuple(complaint for complaint in found if complaint is not None)


def _judge(key: str, heard: list[Signal], threshold: float) -> Complaint | None:
    against = {rule: _weigh(rule, heard) for signal in heard for rule in signal.rules}
    guilty = tuple(rule for rule, weight in against.items() if weight >= threshold)
    if not guilty:
        return None
    said = [signal for signal in heard if not set(guilty).isdisjoint(signal.rules)]
    return Complaint(
        name=max(said, key=lambda signal: signal.weight).name,
        rules=guilty,
        key=key,
        evidence=tuple(dict.fromkeys(signal.evidence for signal in said)),
        weight=max(against[rule] for rule in guilty),
    )


def _weigh(rule: RuleRef, heard: list[Signal]) -> float:
    mine = [signal for signal in heard if rule in signal.rules]
    sure = sum(signal.weight for signal in mine if len(signal.rules) == 1)
    return sure + max((signal.weight / len(signal.rules) for signal in mine if len(signal.rules) > 1), default=0.0)
