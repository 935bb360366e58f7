"""The padding before line numbers, which only puts them below each other; an arrow behind them becomes a tab.

The result is what ``cat -n`` means and what newer agents print themselves: number, tab, line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from rules_engine.kinds import Encoded
from rules_engine.script import Edit
from rules_engine.types import Observation

VERSION = 2

_PADDED = re.compile(r"\n +\d{1,8}[→\t:|]")
_LABELLED = re.compile(r"(?m)^( +)(\d{1,8})([→\t:|]).*")
_LISTING = "→\t"
"""Only a listing of a file has these after a padded number; the others are also found in tables and snippets."""
_RUN, _LONG_RUN = 3, 12
_ARROW = "→"
_SPARE = 3
"""Blanks before a number that make up for the tab after it."""


class Label(NamedTuple):
    """A padded line number, and the line that it stands before."""

    line: int
    start: int
    pad: int
    number: int
    width: int
    mark: str


def encode(text: str, observation: Observation) -> Encoded | None:
    """Delete the padding of lines that are numbered in order; the note says which, and how wide it was."""
    if not _PADDED.search(text):
        return None
    # In a JSON string a number right after a line break reads as "n12": there one blank stays.
    kept = int(observation.escaped)
    edits: list[Edit] = []
    notes: list[str] = []
    for run in _runs(text):
        if len(run) >= (_RUN if run[0].mark in _LISTING else _LONG_RUN):
            edits += [_edit(label, kept) for label in run if label.pad > kept]
            notes.append(f"{run[0].line}-{run[-1].line}:{run[0].width}{_ARROW * (run[0].mark == _ARROW)}")
    return Encoded(edits=tuple(edits), note=" ".join(notes)) if edits else None


def _edit(label: Label, kept: int) -> Edit:
    begin = label.start + kept
    digits = label.start + label.pad, label.start + label.width
    if label.mark == _ARROW and label.pad >= _SPARE + kept:
        return begin, digits[1] + 1, (digits, "\t")
    return begin, digits[0], ()


def _runs(text: str) -> Iterator[list[Label]]:
    """Labels of one width and mark, in ascending order, with nothing but blank lines between their lines."""
    run: list[Label] = []
    for label, apart in _labels(text):
        if run and (apart or not _follows(run[-1], label)):
            yield run
            run = []
        run.append(label)
    yield run


def _labels(text: str) -> Iterator[tuple[Label, bool]]:
    """Each label, and whether other text stands between its line and that of the label before."""
    line = end = 0
    for match in _LABELLED.finditer(text):
        start = match.start()
        gap = text[end:start]
        line += gap.count("\n")
        pad, digits, mark = match.groups()
        yield Label(line, start, len(pad), int(digits), len(pad) + len(digits), mark), not gap.isspace()
        end = match.end()


def _follows(before: Label, after: Label) -> bool:
    step = after.number - before.number
    listed = step >= 1 if after.mark in _LISTING else step == 1
    return listed and after.width == before.width and after.mark == before.mark


def verify(text: str, result: str, note: str) -> bool:
    """Pad the numbers again, as wide as the note says, and compare."""
    lines = result.split("\n")
    for part in note.split(" "):
        place, width = part.split(":")
        first, last = place.split("-")
        for at in range(int(first), int(last) + 1):
            lines[at] = _padded(lines[at], int(width.rstrip(_ARROW)), width.endswith(_ARROW))
    return "\n".join(lines) == text


def _padded(line: str, width: int, arrow: bool) -> str:
    bare = line.removeprefix(" ")
    digits = len(bare) - len(bare.lstrip("0123456789"))
    if not digits:
        return line
    pad, kept, line = width - digits, len(line) - len(bare), bare
    if arrow and pad >= _SPARE + kept:
        line = line[:digits] + _ARROW + line[digits + 1 :]
    return " " * pad + line
