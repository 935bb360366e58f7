"""What an agent goes on to use of a tool result: the label that needs no labels.

A string counts as used if a later turn contains it and nobody had said it before, so that it can come from tool
results only. Evidence that is read and not quoted escapes the measure; hence the protection of what is stated.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from rules_engine.lines import bare
from rules_engine.script import render
from rules_engine.types import Observation, Result, Sample, Turn

ANCHOR = 12
"""Characters from which a line counts as quoted: shorter ones stand in many files, and finding one says nothing."""

_WORD = re.compile(r"[A-Za-z0-9_/.][\w./@+-]{2,}\w")
_TELLING = re.compile(r"[_/\d]|\w\.\w|[a-z][A-Z]")


def words(text: str) -> frozenset[str]:
    """Paths, identifiers, versions, numbers, hashes: words that are not of plain language."""
    return frozenset([word for word in _WORD.findall(text) if _TELLING.search(word)])


def cores(lines: Sequence[str]) -> tuple[str, ...]:
    """The lines as an edit would quote them: without numbers before them and blanks around them."""
    return tuple([line.strip() for line in bare(lines)])


def used_lines(lines: Sequence[str], used: Collection[str]) -> frozenset[int]:
    """Positions of the lines that hold a used string, or are one."""
    if not used:
        return frozenset()
    whole = cores(lines)
    return frozenset(
        at for at, line in enumerate(lines) if whole[at] in used or (line and not words(line).isdisjoint(used))
    )


def samples(turns: Iterable[Turn], session: str, source: str = "") -> Iterator[Sample]:
    """The results of a session that has ended, each with what later turns took from it.

    A result of which rules left something out is no sample: what nobody saw nobody could use. A string that stood in
    several results counts as used of each; `known` names those that had been said or shown before. What other people say
    is a turn without results.
    """
    trail = _Trail()
    for turn in turns:
        trail.hear(turn.said)
        for result in turn.results:
            trail.look(result)
    for look in trail.looks:
        if not look.whole:
            continue
        yield Sample(
            observation=look.observation,
            used=frozenset(look.used),
            known=look.known,
            session=session,
            source=source,
        )


@dataclass(slots=True)
class _Look:
    observation: Observation
    known: frozenset[str]
    whole: bool
    """All that stands in it was seen, if not here, then where a pointer led."""
    used: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Trail:
    """A session as it goes on: what was said, and in which results a string stood."""

    looks: list[_Look] = field(default_factory=list)
    said: set[str] = field(default_factory=set)
    places: dict[str, list[_Look]] = field(default_factory=dict)

    def hear(self, text: str) -> None:
        strings = words(text) | _quoted(text)
        for string in strings - self.said:
            for look in self.places.get(string, ()):
                look.used.add(string)
        self.said |= strings

    def look(self, result: Result) -> None:
        form, text = result.form, result.observation.text
        whole = form is None or all(applied.loss == "lossless" for applied in form.applied)
        shown = text if form is None or whole else render(text, form.script)
        own = words(shown)
        known = frozenset([word for word in own if word in self.said or word in self.places])
        look = _Look(result.observation, known, whole)
        self.looks.append(look)
        for string in own.union(_anchors(cores(shown.split("\n")))):
            self.places.setdefault(string, []).append(look)


def _anchors(lines: Iterable[str]) -> frozenset[str]:
    return frozenset([line for line in lines if len(line) >= ANCHOR])


def _quoted(text: str) -> frozenset[str]:
    """Lines that may be quoted from a file: an edit's old text, or the context and the removed lines of a patch."""
    lines = text.split("\n")
    return _anchors(cores([*lines, *(line[1:] for line in lines if line[:1] == "-")]))
