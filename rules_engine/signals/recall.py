"""The agent asks for text that was left out: the strongest complaint there is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rules_engine.recall import requested
from rules_engine.types import Observation, Omission, Rewritten, Signal, Turn

WEIGHT = 1.0


def detect(turns: Sequence[Turn]) -> tuple[Signal, ...]:
    """One signal for each id that a call of the newest turn asks for."""
    asking = [result.observation for result in turns[-1].results if requested(result.observation.command)]
    if not asking:
        return ()
    before = [result.decision for turn in turns[:-1] for result in turn.results if result.decision]
    return tuple(signal for observation in asking for signal in blame(observation, before))


def blame(observation: Observation, decisions: Iterable[Rewritten]) -> tuple[Signal, ...]:
    """One signal for each id that the call asks for, against the rules that left this text out, and no others.

    Where two decisions have an omission of that id the later one is meant, as in the answer.
    """
    asked = requested(observation.command)
    if not asked:
        return ()
    found = {
        omission.id: _signal(decision.key, omission)
        for decision in decisions
        for form in decision.forms
        for omission in form.omissions
        if omission.id in asked
    }
    return tuple(found[name] for name in asked if name in found)


def _signal(key: str, omission: Omission) -> Signal:
    rules = tuple(dict.fromkeys(omission.rules))
    return Signal(name="recall", key=key, rules=rules, evidence=f"echo recall:{omission.id}", weight=WEIGHT)
