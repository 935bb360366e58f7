"""Lines, and blocks of lines, that stand several times in a row: once, with the number of times."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rules_engine.kinds import Encoded
from rules_engine.lines import starts
from rules_engine.natures import nature
from rules_engine.script import Edit
from rules_engine.types import Observation

VERSION = 1

_LONGEST = 12
"""Lines of the longest block that is looked for."""
_FEWEST = 4
"""Lines of the shortest run that is worth a mark."""
_GAIN = 4
"""A run removes so many times the characters of its mark."""
_LINE_MARK = re.compile(r"(.*\S|)  \[x(\d+)\]")
_BLOCK_MARK = re.compile(r"\[the (\d+) lines above stand (\d+) times in a row\]")


class Run(NamedTuple):
    """`times` copies of a block of `size` lines, the first of which begins at line `start`."""

    start: int
    size: int
    times: int

    def mark(self) -> str:
        """What follows the first copy."""
        if self.size == 1:
            return f"  [x{self.times}]"
        return f"\n[the {self.size} lines above stand {self.times} times in a row]"


def encode(text: str, observation: Observation) -> Encoded | None:
    """Keep the first copy and state the count; a file that is read, a diff or data stays as it is."""
    lines = text.split("\n")
    if len(set(lines)) > len(lines) - _FEWEST + 1 or ("]" in text and any(map(_read_mark, lines))):
        return None
    offsets = starts(lines)
    edits = [_edit(run, offsets) for run in _runs(lines) if _pays(run, lines)]
    if not edits or nature(observation) in ("read", "diff", "structured"):
        return None
    return Encoded(edits=tuple(edits))


def _runs(lines: Sequence[str]) -> Iterator[Run]:
    last: dict[str, int] = {}
    at = 0
    while at < len(lines):
        start = last.get(lines[at], at)
        end = at
        while at - start <= _LONGEST and start < at and lines[end : end + at - start] == lines[start:at]:
            end += at - start
        if end > at:
            yield Run(start, at - start, (end - start) // (at - start))
            last.clear()
            at = end
        else:
            last[lines[at]] = at
            at += 1


def _pays(run: Run, lines: Sequence[str]) -> bool:
    block = lines[run.start : run.start + run.size]
    spared = (run.times - 1) * sum(len(line) + 1 for line in block)
    # A reader of the mark after a line takes the blanks before it for part of the mark.
    fits = run.size > 1 or block[0] == block[0].rstrip()
    return fits and any(map(str.strip, block)) and run.size * run.times >= _FEWEST and spared >= _GAIN * len(run.mark())


def _edit(run: Run, offsets: Sequence[int]) -> Edit:
    """All copies but the first give way to the mark."""
    return offsets[run.start + run.size] - 1, offsets[run.start + run.size * run.times] - 1, (run.mark(),)


def _read_mark(line: str) -> re.Match[str] | None:
    return (_LINE_MARK.fullmatch(line) or _BLOCK_MARK.fullmatch(line)) if line[-1:] == "]" else None


def bound(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Each mark with the lines that it says are repeated."""
    found = [(at, mark) for at, line in enumerate(lines) if (mark := _read_mark(line))]
    return [(at if mark.re is _LINE_MARK else at - int(mark[1]), at + 1) for at, mark in found]


def verify(text: str, result: str, note: str) -> bool:
    """Write every line and block as often as its mark says, and compare."""
    out: list[str] = []
    for line in result.split("\n"):
        mark = _read_mark(line)
        if not mark:
            out.append(line)
        elif mark.re is _LINE_MARK:
            out += [mark[1]] * int(mark[2])
        else:
            out += out[-int(mark[1]) :] * (int(mark[2]) - 1)
    return "\n".join(out) == text
