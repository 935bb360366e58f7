"""Lines that were left out come back in a later output, and the agent uses what it could have from nowhere else.

Coming back alone says nothing: commands print the same lines again for many reasons.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rules_engine.evolution.gaps import Gap, Look, blamed, forwarded, looks
from rules_engine.evolution.steps import is_change, name
from rules_engine.evolution.use import words
from rules_engine.recall import requested
from rules_engine.types import Result, Signal, Turn

WEIGHT = 0.8
_SOON = 3
"""Turns within which a use says why the lines were fetched; a later one may have another reason."""


def detect(turns: Sequence[Turn]) -> tuple[Signal, ...]:
    """One signal for each earlier result of which the newest turn uses omitted words that a later result gave back."""
    seen = looks(turns)
    fresh = words(turns[-1].said) if seen else frozenset()
    found: dict[str, Signal] = {}
    for at in range(max(len(turns) - 1 - _SOON, 0), len(turns) - 1):
        for result in turns[at].results if fresh else ():
            for look, gaps in _uses(turns, at, result, seen, fresh):
                rules = blamed(gaps)
                evidence = f"{name(result.observation)} gave back lines left out of {name(look.observation)}, and they were used"
                key = look.observation.key
                found.setdefault(key, Signal(name="reappeared", key=key, rules=rules, evidence=evidence, weight=WEIGHT))
    return tuple(found.values())


def _uses(
    turns: Sequence[Turn], at: int, result: Result, seen: Sequence[Look], fresh: frozenset[str]
) -> Iterator[tuple[Look, tuple[Gap, ...]]]:
    text = forwarded(result, turns[:at])
    wanted = fresh & words(text)
    older = [look for look in seen if look.at < at and wanted and _wanted(look.gaps, wanted)]
    older = [look for look in older if not _is_news(turns, look.at, at, result)]
    unknown = wanted - _known(turns, result, wanted) if older else wanted
    for look in older if unknown else ():
        gaps = tuple(_wanted(look.missed(text), unknown))
        if gaps:
            yield look, gaps


def _wanted(gaps: Iterable[Gap], wanted: frozenset[str]) -> list[Gap]:
    """Those with a word that is wanted."""
    return [gap for gap in gaps if any(word in gap.text for word in wanted) and wanted & words(gap.text)]


def _is_news(turns: Sequence[Turn], start: int, end: int, result: Result) -> bool:
    """A program was run again after a change: it had to be, whatever was left out before."""
    if requested(result.observation.command) or not is_change(result.observation):
        return False
    return any(is_change(other.observation) for turn in turns[start + 1 : end] for other in turn.results)


def _known(turns: Sequence[Turn], apart: Result, wanted: frozenset[str]) -> frozenset[str]:
    """Those of the words that the agent has from elsewhere."""
    said = [turn.said for turn in turns[:-1]]
    shown = [forwarded(other) for turn in turns[:-1] for other in turn.results if other is not apart]
    return frozenset().union(*(_held(text, wanted) for text in (*said, *shown)))


def _held(text: str, wanted: frozenset[str]) -> frozenset[str]:
    found = frozenset(word for word in wanted if word in text)
    return found & words(text) if found else found
