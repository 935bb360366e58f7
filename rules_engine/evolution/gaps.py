"""What rules left out of the results that an agent was looking at, and whether it stands in a later text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rules_engine.evolution.use import cores, words
from rules_engine.lines import WORTH
from rules_engine.recall import requested
from rules_engine.script import render
from rules_engine.types import Form, Observation, Omission, Result, RuleRef, Turn

LOOK_BACK = 12
"""Turns in which something left out may still be missed; a recall and a mark's text name it however old it is."""
_MOST_PARTS = 400
"""Lines of a later text that are looked for inside longer lines, at most."""
_VOLATILE = re.compile(r"\b\d+(?:\.\d+)? ?(?:m?s|secs?|seconds?|minutes?)\b|\b\d{1,2}:\d\d:\d\d(?:[.,]\d+)?\b")
"""Durations and times of day: they differ whenever a command runs."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Text that was left out of a result: all that one mark hides, or the part of it that one rule took."""

    id: str
    rules: tuple[RuleRef, ...]
    start: int
    """Where its text begins in the raw text."""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A result that the agent saw with gaps."""

    at: int
    """The turn that it belongs to."""
    observation: Observation
    shown: str
    gaps: tuple[Gap, ...]

    def missed(self, text: str) -> dict[Gap, int]:
        """The gaps of which lines stand in `text` and not in what the agent was shown, each with the number of such lines.

        Where no whole line does, lines of `text` that stand inside a line of a gap count.
        """
        lines = telling(text) - telling(self.shown)
        found = {gap: len(lines & telling(gap.text)) for gap in self.gaps}
        if not any(found.values()) and len(lines) <= _MOST_PARTS:
            parts = [line for line in lines if line not in self.shown]
            found = {gap: sum(part in gap.text for part in parts) for gap in self.gaps}
        return {gap: count for gap, count in found.items() if count}

    def used(self, gaps: Iterable[Gap], said: frozenset[str]) -> tuple[Gap, ...]:
        """Those of `gaps` that hold one of the words `said` that is not shown."""
        unseen = said - words(self.shown)
        return tuple(gap for gap in gaps if unseen and not unseen.isdisjoint(words(gap.text)))


def looks(turns: Sequence[Turn], back: int = LOOK_BACK) -> list[Look]:
    """The results with gaps that the agent had before it took the newest of `turns`; the newest result first."""
    last = len(turns) - 1
    found = [_look(at, result) for at in range(max(last - back, 0), last) for result in turns[at].results]
    return [look for look in reversed(found) if look is not None]


def lines_missed(turns: Sequence[Turn], key: str, rule: RuleRef) -> tuple[str, ...]:
    """Lines that a rule left out of a result, and that the newest turn took up: in what it says, or in its results."""
    newest = turns[-1] if turns else Turn(said="")
    said = words(newest.said)
    later = frozenset().union(*(telling(forwarded(result, turns[:-1])) for result in newest.results))
    gaps = [gap for look in looks(turns) if look.observation.key == key for gap in look.gaps if rule in gap.rules]
    lines = [line for gap in gaps for line in gap.text.split("\n")]
    return tuple(line for line in lines if telling(line) & later or words(line) & said)


def forwarded(result: Result, before: Sequence[Turn] = ()) -> str:
    """The text of a result as the model saw it; where it answers a recall, what the turns `before` had left out."""
    asked = requested(result.observation.command)
    if asked:
        answers = {o.id: _cut(r.observation, o.spans) for t in before for r in t.results for o in _omissions(r.form)}
        return "\n".join([result.observation.text, *(answers[name] for name in asked if name in answers)])
    return render(result.observation.text, result.form.script) if result.form else result.observation.text


def telling(text: str) -> frozenset[str]:
    """The lines of a text that say something, without numbers before them, blanks around them, and times in them."""
    return frozenset([_settled(line) for line in cores(text.split("\n")) if len(line) >= WORTH])


def blamed(gaps: Iterable[Gap]) -> tuple[RuleRef, ...]:
    """The rules that made these gaps, each once."""
    return tuple(dict.fromkeys(rule for gap in gaps for rule in gap.rules))


def _look(at: int, result: Result) -> Look | None:
    observation, form = result.observation, result.form
    lossy = {applied.rule for applied in form.applied if applied.loss == "lossy"} if form else set()
    hiding = [omission for omission in _omissions(form) if not lossy.isdisjoint(omission.rules)]
    if not hiding:
        return None
    gaps = tuple(gap for omission in hiding for gap in _authored(observation, omission))
    return Look(at=at, observation=observation, shown=forwarded(result), gaps=gaps)


def _authored(observation: Observation, omission: Omission) -> Iterator[Gap]:
    rules, spans = omission.rules, omission.spans
    if len(rules) != len(spans):
        yield Gap(omission.id, tuple(dict.fromkeys(rules)), spans[0][0], _cut(observation, spans))
        return
    for rule, span in zip(rules, spans, strict=True):
        yield Gap(omission.id, (rule,), span[0], _cut(observation, (span,)))


def _cut(observation: Observation, spans: Iterable[tuple[int, int]]) -> str:
    return "".join(observation.text[start:end] for start, end in spans)


def _omissions(form: Form | None) -> tuple[Omission, ...]:
    return form.omissions if form else ()


def _settled(line: str) -> str:
    return _VOLATILE.sub("0", line) if any(map(str.isdigit, line)) else line
