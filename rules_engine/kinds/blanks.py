"""Numbers of blank lines in a listing of a file, which the numbers around them tell."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rules_engine.kinds import Encoded
from rules_engine.natures import nature
from rules_engine.types import Observation

VERSION = 2

_BLANK = re.compile(r"(?m)(?<=\n)([1-9]\d{0,7})([→\t])$")
_NUMBERED = re.compile(r"([1-9]\d{0,7})([→\t])")
_ROUND = 10
"""Agents quote round numbers when they ask for a part of a file, so those stay."""
_END = re.compile(r"\d+[→\t]\s*[\])};,]+$")
"""The end of a block: agents ask for what follows it, from the blank line on."""
_INSIDE = re.compile(r"\n(?:\d+[→\t]\n){0,4}\d+[→\t][ \t]")
"""What follows a blank line within a block. On the outermost level one parts what agents name by its place."""


def encode(text: str, observation: Observation) -> Encoded | None:
    """Leave a blank line blank where the lines around it have the numbers before and after its own."""
    if observation.escaped or not _may_be_blank(text) or nature(observation) != "read":
        return None
    edits = tuple((start, end, ()) for start, end in _told(text))
    return Encoded(edits=edits) if edits else None


def _may_be_blank(text: str) -> bool:
    return ("\t\n" in text or "→\n" in text or text.endswith(("\t", "→"))) and bool(_BLANK.search(text))


def _told(text: str) -> Iterator[tuple[int, int]]:
    for match in _BLANK.finditer(text):
        number, mark = int(match[1]), match[2]
        start, end = match.span()
        before = text.rfind("\n", 0, start - 1) + 1
        told = text.startswith(f"{number - 1}{mark}", before) and text.startswith(f"{number + 1}{mark}", end + 1)
        inside = _INSIDE.match(text, end) and not _END.match(text[before : start - 1])
        if told and inside and number % _ROUND:
            yield start, end


def verify(text: str, result: str, note: str) -> bool:
    """Number the blank lines between two numbered ones that leave room for just so many, and compare."""
    out: list[str] = []
    blank = 0
    last = ""
    for line in result.split("\n"):
        if not line:
            blank += 1
            continue
        if blank:
            out += _numbered(last, line, blank)
        out.append(line)
        blank, last = 0, line
    return "\n".join([*out, *[""] * blank]) == text


def _numbered(before: str, after: str, blank: int) -> list[str]:
    """So many blank lines, as they were between these two."""
    last, here = _NUMBERED.match(before), _NUMBERED.match(after)
    if not last or not here or here[2] != last[2] or int(here[1]) != int(last[1]) + blank + 1:
        return [""] * blank
    return [f"{int(last[1]) + k}{last[2]}" for k in range(1, blank + 1)]
