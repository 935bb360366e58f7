"""Search results: hits in one file, one after the other, stand under its path instead of each naming it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby

from rules_engine.guards import gains
from rules_engine.kinds import Encoded
from rules_engine.lines import starts
from rules_engine.natures import nature
from rules_engine.script import Edit
from rules_engine.types import Observation, Piece

VERSION = 2

_ANY = re.compile(r":\d+:")
_HIT = re.compile(r"(\S(?::[\\/])?[^:]*):\d+:")
_CONTEXT = re.compile(r"-\d+-")
_NUMBER = re.compile(r" ?\d+[:-]")
_NAMED = re.compile(r"\.[A-Za-z_][\w+-]*$|[\\/][\w.-]*[A-Za-z][\w-]*$")
_NOT_A_PATH = re.compile(r"\d{4}-\d\d-\d\d|\d\dT\d\d|T\d\d$| \(")
_STATES = re.compile(
    r"(?i)error|exception|traceback|fatal|panic|fail|not found|denied|time.?out|success|completed|\d (?:passed|tests?)"
)
_PLAIN = re.compile(r"[\w./@+-]+")
_NUMBERED = re.compile(r"\s*\d+(?:[→\t:]|\| ?)")
_PLACE = re.compile(r"[:-]\d+[:-]\s*")
_BREAK = "--"
_ROOM = 200
"""Characters of the folders before a path that only the lines around its hits name."""


def encode(text: str, observation: Observation) -> Encoded | None:
    """Write a path once, as a heading, where two or more hits in that file (or lines around hits) follow each other."""
    if not _ANY.search(text) or nature(observation) not in ("search", "read"):
        return None
    lines = text.split("\n")
    if any(map(_NUMBER.match, lines)):
        return None
    paths = _paths(text, lines)
    whole = _whole(lines, paths)
    groups = _groups(lines, paths, whole)
    # In a JSON string a number right after a line break reads as "n12".
    apart = " " * observation.escaped
    worth = tuple(edit for edit in _edits(lines, paths, groups, whole, apart) if gains(edit))
    return Encoded(edits=worth) if worth else None


def _paths(text: str, lines: Sequence[str]) -> list[str]:
    """The path that each line begins with, or "" where it is no hit and not beside one."""
    hits = [match[1] if (match := _HIT.match(line)) else "" for line in lines]
    known = {path for path in set(hits) if _is_path(path)}
    paths = [path if path in known else "" for path in hits]
    longest = max(map(len, known), default=0) + _ROOM
    below = tuple(f"{separator}{path}" for path in known for separator in "/\\")
    for at, line in enumerate(lines) if known and _CONTEXT.search(text) else ():
        for match in _CONTEXT.finditer(line, 0, longest):
            found = line[: match.start()]
            # Some tools shorten the paths of hits and not those of the lines around them.
            if found in known or (found.endswith(below) and _is_path(found)):
                paths[at] = found
                break
    return paths


def _is_path(found: str) -> bool:
    return bool(_NAMED.search(found)) and not _NOT_A_PATH.search(found)


def _whole(lines: Sequence[str], paths: Sequence[str]) -> frozenset[int]:
    """Lines that keep their place beside them: breaks, failures whose place is hard to tell from the text behind it,
    and hits whose text also stands by itself in another part of the output."""
    alone = {_NUMBERED.sub("", line).strip() for line, path in zip(lines, paths, strict=True) if not path}
    odd = {path for path in set(paths) if not _PLAIN.fullmatch(path)}
    return frozenset(
        at
        for at, (line, path) in enumerate(zip(lines, paths, strict=True))
        if line == _BREAK
        or (path and (_text(line, path) in alone or (_is_odd(line, path, odd) and _STATES.search(line, len(path)))))
    )


def _text(line: str, path: str) -> str:
    place = _PLACE.match(line, len(path))
    return line[place.end() if place else len(path) :].strip()


def _is_odd(line: str, path: str, odd: Collection[str]) -> bool:
    return line[len(path)] == "-" or path in odd


def _groups(lines: Sequence[str], paths: Sequence[str], whole: frozenset[int]) -> Iterator[tuple[int, int]]:
    """First and last line of each run of hits in one file; breaks between two of its hits belong to it."""
    places = [at for at, line in enumerate(lines) if paths[at] or line != _BREAK]
    for path, run in groupby(zip(places, [paths[at] for at in places], strict=True), key=lambda place: place[1]):
        members = [at for at, _ in run if path and at not in whole]
        if len(members) > 1:
            yield members[0], members[-1]


def _edits(
    lines: Sequence[str], paths: Sequence[str], groups: Iterable[tuple[int, int]], whole: frozenset[int], apart: str
) -> Iterator[Edit]:
    offsets = starts(lines)
    for first, last in groups:
        path, start, end = paths[first], offsets[first], offsets[last + 1] - 1
        pieces: list[Piece] = [(start, start + len(path)), ":\n"]
        for at in range(first, last + 1):
            prefix = 0 if at in whole else len(path) + 1
            pieces += [apart] if apart and prefix else []
            pieces.append((offsets[at] + prefix, min(offsets[at + 1], end)))
        yield start, end, tuple(pieces)


def _headings(lines: Sequence[str]) -> list[int]:
    """For each numbered line the position of the heading that it stands under, else -1."""
    out = []
    heading = -1
    for at, line in enumerate(lines):
        numbered = _NUMBER.match(line)
        path = lines[heading][:-1] if heading >= 0 else ""
        whole = path and line.startswith(path) and _PLACE.match(line, len(path))
        if heading < 0 or not (numbered or whole or line == _BREAK):
            opens = line.endswith(":") and at + 1 < len(lines) and _NUMBER.match(lines[at + 1])
            heading = at if opens else -1
        out.append(heading if numbered else -1)
    return out


def bound(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Each heading with the hits under it."""
    last = {heading: at for at, heading in enumerate(_headings(lines)) if heading >= 0}
    return [(heading, at + 1) for heading, at in last.items()]


def verify(text: str, result: str, note: str) -> bool:
    """Put each heading back before the numbered lines under it, and compare."""
    lines = result.split("\n")
    above = _headings(lines)
    headings = set(above)
    out = [
        lines[heading][:-1] + line.lstrip(" 0123456789")[0] + line.removeprefix(" ") if heading >= 0 else line
        for at, (line, heading) in enumerate(zip(lines, above, strict=True))
        if at not in headings
    ]
    return "\n".join(out) == text
