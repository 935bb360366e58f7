"""What the agent's next steps say about a decision: one module a signal, each with its evidence and weight."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from rules_engine.signals import asked, edit, mark, reappeared, recall, reran
from rules_engine.types import Observation, Rewritten, Signal, SignalName, Turn


class Detector(Protocol):
    """What each module of this folder offers."""

    WEIGHT: float
    """How much one such signal counts towards a complaint, from 0 to 1; see `complaints.THRESHOLD`."""

    def detect(self, turns: Sequence[Turn]) -> tuple[Signal, ...]:
        """What the newest of `turns`, the last, says about decisions in those before it."""


SIGNALS: Mapping[SignalName, Detector] = {
    "recall": recall,
    "mark": mark,
    "edit": edit,
    "reappeared": reappeared,
    "reran": reran,
    "asked": asked,
}
"""All signals, by name; the strongest first."""


def detect(turns: Sequence[Turn]) -> tuple[Signal, ...]:
    """What the newest turn says about the decisions before it, whichever signal finds it."""
    return tuple(signal for member in SIGNALS.values() for signal in member.detect(turns)) if turns else ()


def detect_recalls(observation: Observation, decisions: Iterable[Rewritten]) -> tuple[Signal, ...]:
    """What asking for omitted text says about `decisions`, known as soon as the call is."""
    return recall.blame(observation, decisions)
