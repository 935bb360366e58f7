"""The same or a narrower command again, with no change in between, while lines of the earlier output had been left out.

Not a complaint: a test run again after an edit, a poll, a habit, another target, a look at what was shown anyhow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rules_engine.evolution.gaps import Look, blamed, looks, telling
from rules_engine.evolution.steps import is_change, is_poll, is_same_target, is_saving, name
from rules_engine.evolution.use import words
from rules_engine.recall import requested
from rules_engine.types import Observation, Signal, Turn

WEIGHT = 0.7
_MOST_LINES = 400
"""Lines of a narrower output; more are looked for whole."""


def detect(turns: Sequence[Turn]) -> tuple[Signal, ...]:
    """One signal for each result that the newest turn looked at again."""
    seen = looks(turns)
    found: dict[str, Signal] = {}
    for place, result in enumerate(turns[-1].results if seen else ()):
        observation = result.observation
        if requested(observation.command):
            continue
        look = _find(turns, seen, place, observation)
        gaps = look.missed(observation.text) if look else {}
        if look and gaps:
            rules = blamed(look.used(gaps, words(turns[-1].said)) or gaps)
            back = f"{sum(gaps.values())} lines left out of {name(look.observation)} are in it"
            evidence = f"{name(observation)} again, {len(turns) - 1 - look.at} turns later and nothing changed: {back}"
            key = look.observation.key
            found.setdefault(key, Signal(name="reran", key=key, rules=rules, evidence=evidence, weight=WEIGHT))
    return tuple(found.values())


def _find(turns: Sequence[Turn], seen: Sequence[Look], place: int, later: Observation) -> Look | None:
    """The newest look at the same thing after which nothing changed, but that its output was saved to a file."""
    for look in seen:
        changes = [step for step in _between(turns, look, place) if is_change(step)]
        if not all(map(is_saving, changes)):
            return None
        if _is_again(turns, look.observation, changes, later):
            return look
    return None


def _is_again(turns: Sequence[Turn], earlier: Observation, saved: Sequence[Observation], later: Observation) -> bool:
    through = all(is_same_target(earlier, step) and is_same_target(step, later) for step in saved)
    if not through or not (saved or is_same_target(earlier, later)):
        return False
    if earlier.command == later.command and (is_poll(later) or _is_habit(turns, later)):
        return False
    return _is_part(earlier.text, later.text)


def _is_part(earlier: str, later: str) -> bool:
    """Every line of the later output stands in the earlier one, whole or inside a line."""
    whole, lines = telling(earlier), telling(later)
    rest = lines - whole
    return bool(lines) and len(rest) <= _MOST_LINES and all(line in earlier for line in rest)


def _between(turns: Sequence[Turn], look: Look, place: int) -> Iterator[Observation]:
    """The steps after the one that was looked at, up to the one that looks again."""
    same = [result.observation for result in turns[look.at].results]
    at = next(at for at, observation in enumerate(same) if observation.key == look.observation.key)
    yield from same[at + 1 :]
    for turn in turns[look.at + 1 : -1]:
        yield from (result.observation for result in turn.results)
    yield from (result.observation for result in turns[-1].results[:place])


def _is_habit(turns: Sequence[Turn], later: Observation) -> bool:
    """The same command was run more than once before: that is how this agent works."""
    runs = (result.observation.command == later.command for turn in turns[:-1] for result in turn.results)
    return sum(runs) > 1
