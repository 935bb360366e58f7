"""Search results: hits in one file, one after the other, stand under its path instead of each naming it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from rules_engine.kinds import Encoded
from rules_engine.lines import starts
from rules_engine.natures import nature
from rules_engine.script import Edit
from rules_engine.types import Observation, Piece

VERSION = 1

_ANY = re.compile(r":\d+:")
_HIT = re.compile(r"(\S(?::[\\/])?[^:]*):\d+:")
_CONTEXT = re.compile(r"-\d+-")
_NUMBER = re.compile(r"\d+[:-]")
_NAMED = re.compile(r"\.[A-Za-z_][\w+-]*$|[\\/][\w.-]*[A-Za-z][\w-]*$")
_NOT_A_PATH = re.compile(r"\d{4}-\d\d-\d\d|\d\dT\d\d|T\d\d$| \(")
_BREAK = "--"


def encode(text: str, observation: Observation) -> Encoded | None:
    """Write a path once, as a heading, where two or more hits in that file (or lines around hits) follow each other."""
    if not _ANY.search(text):
        return None
    lines = text.split("\n")
    paths = _paths(lines)
    groups = list(_groups(lines, paths))
    if not groups or nature(observation) not in ("search", "read") or _misleads(lines, groups):
        return None
    return Encoded(edits=tuple(_edits(lines, paths, groups)))


def _paths(lines: Sequence[str]) -> list[str]:
    """The path that each line begins with, or "" where it is no hit and not beside one."""
    paths = [_hit(line) for line in lines]
    known = set(paths) - {""}
    longest = max(map(len, known), default=0)
    for at, line in enumerate(lines):
        for match in _CONTEXT.finditer(line, 0, longest + 12):
            if line[: match.start()] in known:
                paths[at] = line[: match.start()]
                break
    return paths


def _hit(line: str) -> str:
    match = _HIT.match(line)
    path = match[1] if match else ""
    return path if _NAMED.search(path) and not _NOT_A_PATH.search(path) else ""


def _groups(lines: Sequence[str], paths: Sequence[str]) -> Iterator[tuple[int, int]]:
    """First and last line of each run of hits in one file; breaks between two of its hits belong to it."""
    places = [at for at, line in enumerate(lines) if paths[at] or line != _BREAK]
    for path, run in groupby(zip(places, [paths[at] for at in places], strict=True), key=lambda place: place[1]):
        members = [at for at, _ in run]
        if path and len(members) > 1:
            yield members[0], members[-1]


def _misleads(lines: Sequence[str], groups: Sequence[tuple[int, int]]) -> bool:
    """A line that was there before would read as part of a group."""
    ends = {last for _, last in groups}
    return any(
        _NUMBER.match(line) and (lines[at - 1].endswith(":") or at - 1 in ends or lines[at - 1] == _BREAK)
        for at, line in enumerate(lines[1:], 1)
    )


def _edits(lines: Sequence[str], paths: Sequence[str], groups: Sequence[tuple[int, int]]) -> Iterator[Edit]:
    offsets = starts(lines)
    for first, last in groups:
        path, start, end = paths[first], offsets[first], offsets[last + 1] - 1
        pieces: list[Piece] = [(start, start + len(path)), ":\n"]
        for at in range(first, last + 1):
            prefix = 0 if lines[at] == _BREAK else len(path) + 1
            pieces.append((offsets[at] + prefix, min(offsets[at + 1], end)))
        yield start, end, tuple(pieces)


def verify(text: str, result: str, note: str) -> bool:
    """Put each heading back before the numbered lines under it, and compare."""
    out: list[str] = []
    heading = ""
    lines = result.split("\n")
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        if heading and _NUMBER.match(line):
            out.append(heading + line.lstrip("0123456789")[0] + line)
        elif line.endswith(":") and _NUMBER.match(after):
            heading = line[:-1]
        else:
            heading = heading if line == _BREAK else ""
            out.append(line)
    return "\n".join(out) == text
