"""Lines that begin alike, as those of one job among several do: the beginning once, and under it the rest of each.

A line that states a failure or a result keeps its beginning: whoever looks for it finds the whole line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rules_engine.critical import stated
from rules_engine.guards import gains
from rules_engine.kinds import Encoded
from rules_engine.lines import headed, starts
from rules_engine.natures import nature
from rules_engine.scan import compile_lines, find_lines
from rules_engine.scan import encode as encode_lines
from rules_engine.script import Edit
from rules_engine.types import Observation, Piece

VERSION = 1

_FEWEST, _SHORTEST = 6, 8
_LARGEST = 500_000
_OPEN, _CLOSE = ' lines that begin with "', '", most given without it:]'
_HEAD = re.compile(rf"\[(\d+){_OPEN}(.*){re.escape(_CLOSE)}")
_TROUBLE = compile_lines("error|fail|exception|denied|not found|timed? ?out|fatal|panic|warning")


def encode(text: str, observation: Observation) -> Encoded | None:
    """Take a shared beginning of whole words off runs of lines; failures, results and all but terminal output stay as they are."""
    if len(text) > _LARGEST or _CLOSE in text or nature(observation) != "terminal":
        return None
    lines = text.split("\n")
    # In a JSON string a word right after a line break reads as "nword": there the blank before it stays.
    runs = [(first, stop, size - observation.escaped) for first, stop, size in _runs(lines)]
    if not runs:
        return None
    offsets = starts(lines)
    stays = stated(lines)
    begin, end = runs[0][0], runs[-1][1]
    stays |= {begin + at for at in find_lines(_TROUBLE, encode_lines(lines[begin:end]))}
    # One that begins so twice would without its first beginning be taken for a whole one.
    stays |= {
        at for first, stop, size in runs for at in range(first, stop) if lines[at].startswith(lines[first][:size], size)
    }
    edits = (_edit(offsets, run, stays) for run in runs)
    worth = tuple(edit for edit in edits if gains(edit))
    return Encoded(edits=worth) if worth else None


def _runs(lines: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """(first line, line after the last, characters) of runs that share a beginning of whole words."""
    at = 0
    while at + _FEWEST <= len(lines):
        end = at + 1
        # Most lines begin in another way than the next, and that is seen at once.
        alike = lines[at][:_SHORTEST] == lines[end][:_SHORTEST]
        shared = _words(_shared(lines[at : at + _FEWEST])) if alike else ""
        if shared:
            while end < len(lines) and lines[end].startswith(shared):
                end += 1
            yield at, end, len(shared)
        at = end


def _shared(lines: Sequence[str]) -> str:
    low, high = min(lines), max(lines)
    return low[: next((at for at, pair in enumerate(zip(low, high, strict=False)) if pair[0] != pair[1]), len(low))]


def _words(shared: str) -> str:
    """The part of a beginning that ends after a whole word; nothing if it is short, or layout only."""
    whole = shared[: max(shared.rfind(" "), shared.rfind("\t")) + 1]
    return whole if len(whole.strip()) >= _SHORTEST and '"' not in whole else ""


def _edit(offsets: Sequence[int], run: tuple[int, int, int], stays: frozenset[int]) -> Edit:
    first, stop, size = run
    begin = offsets[first]
    pieces: list[Piece] = [f"[{stop - first}{_OPEN}", (begin, begin + size), _CLOSE]
    for at in range(first, stop):
        # The line break before a line is a slice, too; the first one is that after the heading.
        pieces.append((offsets[at] - 1, offsets[at]) if at > first else "\n")
        pieces.append((offsets[at] + (0 if at in stays else size), offsets[at + 1] - 1))
    return begin, offsets[stop] - 1, tuple(pieces)


def bound(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Each beginning with its lines."""
    return headed(lines, _HEAD, _CLOSE)


def verify(text: str, result: str, note: str) -> bool:
    """Put the beginning before each line that lacks it, and compare."""
    lines = iter(result.split("\n"))
    out: list[str] = []
    for line in lines:
        head = _HEAD.fullmatch(line)
        given = [next(lines) for _ in range(int(head[1]))] if head else []
        out += [rest if rest.startswith(head[2]) else head[2] + rest for rest in given] if head else [line]
    return "\n".join(out) == text
