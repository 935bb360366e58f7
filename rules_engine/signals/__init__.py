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
