"""The rows of members made to agree with the zips, which are the truth: after an index was lost, a zip damaged or put back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memory.L4_raw_sessions import zips
from memory.L4_raw_sessions.compressing import survey
from memory.L4_raw_sessions.journal import Journal, Plan
from memory.L4_raw_sessions.places import SEPARATOR, Places, month_of

_SESSION = re.compile(rb"SESSION: (.+?)\r?\n?")
_ZIP = re.compile(rb" zip=(\S+)")


def reconcile(places: Places, journal: Journal) -> list[str]:
    """Drop rows whose member is in no zip, and make rows for members that have none. Returns notes for the report."""
    index, notes = journal.index, []
    rows = {(name, member) for name, member in index.rows("SELECT zip, member FROM members")}
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for path in places.zips():
        try:
            found |= {(path.name, member): facts for member, facts in zips.facts_of(path).items()}
        except zips.BROKEN as error:
            notes.append(f"{path.name} cannot be read: {error}")
    lost, new = rows - found.keys(), found.keys() - rows
    if lost:
        notes += [f"{name}: {member} is gone" for name, member in sorted(lost)]
        index.run_many("DELETE FROM members WHERE zip = ? AND member = ?", sorted(lost))
    blocks = find_blocks(places.histories) if new else {}
    for name, member in sorted(new):
        try:
            plan = _plan(places.folder / name, member, found[name, member], blocks.get((name, member), (0, 0)))
        except zips.BROKEN as error:
            notes.append(f"{name}: {member} cannot be read: {error}")
            continue
        with index.transaction():
            journal.put_exchanges(journal.put_member(plan), plan.keys)
    return notes


def find_blocks(path: Path) -> dict[tuple[str, str], tuple[int, int]]:
    """Where the blocks of the histories are: (zip, member) → (offset, size)."""
    blocks: dict[tuple[str, str], tuple[int, int]] = {}
    for at, size, member, name in _blocks(path):
        blocks[name, member] = (at, size)
    return blocks


def _blocks(path: Path) -> Iterator[tuple[int, int, str, str]]:
    """Each block with its leading empty line: (offset, size, member, zip)."""
    at, start, member, name, before = 0, 0, "", "", b""
    for line in _lines(path):
        match = _SESSION.fullmatch(line)
        if match and before.rstrip() == SEPARATOR.encode():
            head = at - len(before)
            if member:
                yield start, head - 1 - start, member, name
            start, member, name = max(0, head - 1), match[1].decode("utf-8", "replace"), ""
        elif line.startswith(b"# ") and not name:
            found = _ZIP.search(line)
            name = found[1].decode("utf-8", "replace") if found else ""
        before = line
        at += len(line)
    if member:
        yield start, at - start, member, name


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            yield from file
    except FileNotFoundError:
        return


def _plan(path: Path, member: str, facts: dict[str, Any], place: tuple[int, int]) -> Plan:
    with zips.extracted(path, member) as file:
        sha256, size = zips.digest_of(file), file.tell()
        seen = survey(file)
    return Plan(
        member=member,
        zip=path.name,
        month=month_of(seen.started),
        format=str(facts.get("format") or seen.format),
        session=str(facts.get("session") or seen.session or member),
        model=seen.model,
        started=seen.started,
        ended=seen.ended,
        messages=seen.messages,
        keys=tuple(seen.keys),
        size=size,
        sha256=sha256,
        raw_size=int(facts.get("raw_size") or size),
        raw_sha256=str(facts.get("raw_sha256") or sha256),
        lines=(),
        history_at=place[0],
        history_size=place[1],
    )
