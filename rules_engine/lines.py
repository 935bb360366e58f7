"""Lines of a text, their places in it, and the index by which later texts find them."""

from __future__ import annotations

from collections.abc import Sequence

from rules_engine.marks import is_mark
from rules_engine.script import text_digest
from rules_engine.types import Earlier

WORTH = 6
"""Lines shorter than this (blank ones, braces, ``else:``) stand everywhere, so that finding one says nothing."""
COMMON = 12
"""A line that stands more often than this in one text is not worth finding in it."""


def index(key: str, text: str) -> Earlier:
    """The index of a forwarded text; make it once for each text and keep it."""
    lines = tuple(text.split("\n"))
    hidden = frozenset(at for at, line in enumerate(lines) if line[:1] == "[" and is_mark(line))
    found: dict[str, list[int]] = {}
    for at, line in enumerate(lines):
        if is_telling(line) and at not in hidden:
            found.setdefault(line, []).append(at)
    return Earlier(
        key=key,
        digest=text_digest(text),
        lines=lines,
        places={line: tuple(places) for line, places in found.items() if len(places) <= COMMON},
        hidden=hidden,
    )


def is_telling(line: str) -> bool:
    """The line says something: finding it elsewhere is no accident of layout."""
    return len(line) >= WORTH and len(line.strip()) >= WORTH


def starts(lines: Sequence[str]) -> list[int]:
    """Offset of each line in the text, and, last, where a line after them would start."""
    out = [0]
    for line in lines:
        out.append(out[-1] + len(line) + 1)
    return out
