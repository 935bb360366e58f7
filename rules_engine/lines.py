"""Lines of a text, the numbers before them, and the index by which later texts find them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rules_engine.marks import parse
from rules_engine.script import text_digest
from rules_engine.types import Earlier

WORTH = 6
"""Shorter lines (blank ones, braces, ``else:``) stand everywhere, so that finding one says nothing."""
COMMON = 12
"""Places at which a line is looked for in one text, at most."""

_BEFORE = frozenset(" 0123456789")
_NUMBER = re.compile(r" *([0-9]{1,9})(?:→|\t|: ?|\| ?)")


def index(key: str, text: str, name: str = "", first: int = 1, count: int | None = None) -> Earlier:
    """The index of a forwarded text; make it once for each text and keep it.

    `count` is the number of lines of the raw text. A source is named only where its lines can be counted in the raw
    text as in the forwarded one, pointers followed.
    """
    lines = tuple(text.split("\n"))
    marks = {at: mark for at, line in enumerate(lines) if line[:1] == "[" and (mark := parse(line))}
    places: dict[str, tuple[int, ...]] = {}
    for at, line in enumerate(lines):
        if len(line) >= WORTH and at not in marks:
            before = places.get(line)
            places[line] = (at,) if before is None else (*before, at) if len(before) < COMMON else before
    hidden = {at: mark.lines for at, mark in marks.items()}
    countable = all(mark.kind == "shown" for mark in marks.values()) and (
        count is None or len(lines) + sum(hidden.values()) - len(hidden) == count
    )
    return Earlier(
        key=key,
        digest=text_digest(text),
        lines=lines,
        places=places,
        name=name if countable else "",
        first=first,
        hidden=hidden,
    )


def bare(lines: Sequence[str]) -> tuple[str, ...]:
    """The lines without the numbers that a listing puts before them."""
    match = _NUMBER.match
    return tuple([line[found.end() :] if line[:1] in _BEFORE and (found := match(line)) else line for line in lines])


def is_telling(line: str) -> bool:
    """The line says something: finding it elsewhere is no accident of layout."""
    return len(line) >= WORTH and len(line.strip()) >= WORTH


def starts(lines: Sequence[str]) -> list[int]:
    """Offset of each line in the text, and, last, where a line after them would start."""
    out = [0]
    for line in lines:
        out.append(out[-1] + len(line) + 1)
    return out


def headed(lines: Sequence[str], heading: re.Pattern[str], ending: str) -> list[tuple[int, int]]:
    """Each heading with the lines under it; its first group says how many, and it ends with `ending`."""
    found = [(at, heading.fullmatch(line)) for at, line in enumerate(lines) if line.endswith(ending)]
    return [(at, at + 1 + int(head[1])) for at, head in found if head]
