"""The agent asks for text that was left out: the strongest complaint there is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rules_engine.gaps import blamed, looks
from rules_engine.recall import requested
from rules_engine.types import Observation, Omission, Rewritten, Signal, Turn
from rules_engine.use import words

WEIGHT = 1.0


def detect(turns: Sequence[Turn]) -> tuple[Signal, ...]:
    """One signal for each result of which the turn before the newest recalled something.

    The newest says what it was for: words that it takes from there tell whose lines were missed, and a further recall of
    the same result without such words tells that they were not there.
    """
    asked = _asked(turns[-2]) if len(turns) > 1 else frozenset()
    again = _asked(turns[-1]) if asked else frozenset()
    found: list[Signal] = []
    for look in looks(turns[:-1], len(turns)) if asked else ():
        answered = [gap for gap in look.gaps if gap.id in asked]
        used = look.used(answered, words(turns[-1].said))
        if answered and (used or not any(gap.id in again for gap in look.gaps)):
            evidence = "; ".join(f"echo recall:{name}" for name in dict.fromkeys(gap.id for gap in used or answered))
            rules = blamed(used or answered)
            found.append(Signal(name="recall", key=look.observation.key, rules=rules, evidence=evidence, weight=WEIGHT))
    return tuple(found)


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


def _asked(turn: Turn) -> frozenset[str]:
    return frozenset(name for result in turn.results for name in requested(result.observation.command))
