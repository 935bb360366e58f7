"""Rules in trial: what they would have left out is decided, not applied, and held against what the agent goes on to use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rules_engine.evolution.gaps import Look, looks
from rules_engine.evolution.use import used_lines, words
from rules_engine.types import Signal, Turn

WEIGHT = 1.0
"""Full weight: that the agent used the text is seen, not guessed."""


def missed(turns: Sequence[Turn]) -> tuple[Signal, ...]:
    """What the newest turn takes from text that was shown, and that the results' shadow decisions would have left out.

    The results of `turns` carry the shadow decisions as theirs. A string that stands in what would have been shown of
    any result, or in what was said before, is not missed.
    """
    if not turns or not turns[-1].said:
        return ()
    seen = looks(turns)
    said = turns[-1].said
    used = words(said).difference(*(words(text) for text in _standing(turns, seen)))
    found = (_blame(look, used) for look in seen) if used else ()
    return tuple(signal for signal in found if signal is not None)


def _standing(turns: Sequence[Turn], seen: Sequence[Look]) -> Iterable[str]:
    yield from (turn.said for turn in turns[:-1])
    shown = {look.observation.key: look.shown for look in seen}
    for turn in turns[:-1]:
        for result in turn.results:
            yield shown.get(result.observation.key, result.observation.text)


def _blame(look: Look, used: frozenset[str]) -> Signal | None:
    gaps = [gap for gap in look.gaps if used_lines(gap.text.split("\n"), used)]
    if not gaps:
        return None
    count = sum(len(used_lines(gap.text.split("\n"), used)) for gap in gaps)
    rules = tuple(dict.fromkeys(rule for gap in gaps for rule in gap.rules))
    evidence = f"{count} of the lines that would have been left out were used"
    return Signal(name="used", key=look.observation.key, rules=rules, evidence=evidence, weight=WEIGHT)
