"""What the agent's next steps say about a decision: one module a signal, each with its evidence and weight."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from rules_engine.signals import recall
from rules_engine.types import Observation, Rewritten, Signal


class Detector(Protocol):
    """A member of this folder."""

    WEIGHT: float
    """How strong a complaint it is, from 0 to 1."""

    def detect(self, observation: Observation, decisions: Iterable[Rewritten]) -> tuple[Signal, ...]:
        """What `observation`, the result of the agent's next call, says about `decisions` that it was looking at."""


SIGNALS: Mapping[str, Detector] = {"recall": recall}
"""All signals, by name."""


def detect(observation: Observation, decisions: Iterable[Rewritten]) -> tuple[Signal, ...]:
    """What `observation` says about the decisions before it, whichever signal finds it."""
    before = tuple(decisions)
    return tuple(signal for member in SIGNALS.values() for signal in member.detect(observation, before))
