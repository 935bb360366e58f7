"""The agent asks for text that was left out: the strongest complaint there is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rules_engine.evolution.gaps import Gap, blamed, looks
from rules_engine.evolution.use import words
from rules_engine.recall import requested
from rules_engine.types import Observation, Omission, Rewritten, Signal, Turn

WEIGHT = 1.0


def detect(turns: Sequence[Turn]) -> tuple[Signal, ...]:
    """One signal for each result of which something was recalled.

    Where one rule alone left lines out of a result, asking says all. Where several did, the turn after says which was
    meant: by words that it takes from what came back, or by asking on, which tells that it was not there.
    """
    asked, before = _asked(turns[-1]), _asked(turns[-2]) if len(turns) > 1 else frozenset()
    found: list[Signal] = []
    for look in looks(turns, len(turns)) if asked or before else ():
        alone = len(blamed(look.gaps)) == 1
        answered = [gap for gap in look.gaps if gap.id in (asked if alone else before)]
        used = look.used(answered, words(turns[-1].said))
        if answered and (alone or used or not any(gap.id in asked for gap in look.gaps)):
            found.append(_signal(look.observation.key, used or answered))
    return tuple(found)


def blame(observation: Observation, decisions: Iterable[Rewritten]) -> tuple[Signal, ...]:
    """One signal for each id that the call asks for, against the rules that left this text out, and no others.

    Where two decisions have an omission of that id the later one is meant, as in the answer.
    """
    asked = requested(observation.command)
    if not asked:
        return ()
    found = {
        omission.id: (decision.key, omission)
        for decision in decisions
        for form in decision.forms
        for omission in form.omissions
        if omission.id in asked
    }
    return tuple(_signal(found[name][0], [found[name][1]]) for name in asked if name in found)


def _signal(key: str, gaps: Sequence[Gap | Omission]) -> Signal:
    rules = tuple(dict.fromkeys(rule for gap in gaps for rule in gap.rules))
    evidence = "; ".join(dict.fromkeys(f"echo recall:{gap.id}" for gap in gaps))
    return Signal(name="recall", key=key, rules=rules, evidence=evidence, weight=WEIGHT)


def _asked(turn: Turn) -> frozenset[str]:
    return frozenset(name for result in turn.results for name in requested(result.observation.command))
