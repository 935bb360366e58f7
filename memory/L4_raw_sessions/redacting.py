"""Redacting again everything that is stored of sessions: archive, raw logs, trash, zips, histories, index."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from memory.errors import StoreError
from memory.L4_raw_sessions import texts
from memory.L4_raw_sessions.catchup import catch_up, home, is_recorded
from memory.L4_raw_sessions.forgetting import raw_logs
from memory.L4_raw_sessions.index import Index
from memory.L4_raw_sessions.journal import Journal
from memory.L4_raw_sessions.lines import opened
from memory.L4_raw_sessions.places import Places, places_at
from memory.L4_raw_sessions.rebuild import held
from memory.L4_raw_sessions.reconciling import reconcile
from memory.L4_raw_sessions.rewriting import Change, replace, rewrite_lines, rewrite_zip
from memory.L4_raw_sessions.search import searched
from memory.L4_raw_sessions.sections import read_sections
from memory.L4_raw_sessions.sweeping import Sweep, sweep_log
from memory.L4_raw_sessions.waiting import in_archive, take_in, wait_for
from memory.L4_raw_sessions.zips import BROKEN, facts_of

_DIGEST = re.compile(rb"(?<=sha=)[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Redacted:
    """What was changed."""

    rows: int
    """Of the archive."""
    raw: int
    """Raw logs, those in the trash, too."""
    members: int
    lines: int
    """Of the histories."""
    problems: tuple[str, ...]
    """What could not be looked into."""


def redact_archive(pattern: str | None = None, *, l4_dir: Path | str | None = None) -> Redacted:
    """Redact by a pattern of RE2, or by the patterns of this version. Cut off, it is to be called again.

    Raises `PatternRefused`, and `StoreError` where a run is under way or was cut off.
    """
    places, sweep = places_at(l4_dir), Sweep.of(pattern)
    waiting = take_in(places)
    with searched(places) as index, held(places):
        if index is None:
            raise StoreError(f"{places.folder}: nothing is archived or recorded here")
        if index.rows("SELECT 1 FROM items LIMIT 1"):
            raise StoreError(f"{places.folder}: a run was cut off; let `memory run` finish it first")
        return _redact(places, index, sweep, waiting)


def _redact(places: Places, index: Index, sweep: Sweep, waiting: Sequence[str]) -> Redacted:
    problems = [*waiting]
    found = home(places)
    rows = 0
    if found and is_recorded(places):
        rows = wait_for(lambda: in_archive(found[0], lambda archive: archive.redact(sweep)))
    raw = sum(_redact_log(path, sweep, problems) for path in raw_logs(places))
    digests: dict[bytes, bytes] = {}
    for path in places.zips():
        digests |= _redact_zip(places, index, path, sweep, problems)
    lines = rewrite_lines(places.histories, lambda line: _line(line, sweep, digests))
    _renew_index(places, index, sweep)
    return Redacted(rows=rows, raw=raw, members=len(digests), lines=lines, problems=tuple(problems))


def _redact_log(path: Path, sweep: Sweep, problems: list[str]) -> bool:
    """Redact a log, while whoever would write to it waits."""
    if path.name.partition(".")[2].startswith(("zip", "sqlite")):
        problems.append(f"{path}: was damaged and cannot be looked into; remove it, should it hold what is to go")
        return False
    draft = path.with_name(f".{path.name}.draft")
    with path.open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        changed = False
        with open(os.open(draft, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as new:
            for section in read_sections(cast("BinaryIO", file)):
                swept = sweep.section(section)
                changed |= swept != section
                new.write(swept.head + swept.body)
        if changed:
            shutil.copystat(path, draft)
            replace(draft, path)
        else:
            draft.unlink()
    return changed


def _redact_zip(places: Places, index: Index, path: Path, sweep: Sweep, problems: list[str]) -> dict[bytes, bytes]:
    """Redact the members of a zip; the digests of those that were changed, before and after."""
    try:
        told = facts_of(path)
    except BROKEN as error:
        problems.append(f"{path}: {error}")
        return {}
    digests: dict[bytes, bytes] = {}
    changes: dict[str, Change | None] = {
        member: partial(_change, sweep, facts, digests)
        for member, facts in told.items()
        if _is_touched(places, path.name, member, sweep, problems)
    }
    if changes:
        gone = [(path.name, member) for member in changes]
        index.run_many("DELETE FROM members WHERE zip = ? AND member = ?", gone)
        rewrite_zip(path, changes)
    return digests


def _is_touched(places: Places, zip_: str, member: str, sweep: Sweep, problems: list[str]) -> bool:
    try:
        with opened(places, zip_, member) as file:
            return any(sweep.section(section) != section for section in read_sections(file))
    except StoreError as error:
        problems.append(str(error))
        return False


def _change(
    sweep: Sweep, facts: Mapping[str, Any], digests: dict[bytes, bytes], source: BinaryIO, target: IO[bytes]
) -> Mapping[str, Any]:
    digest = hashlib.sha256()
    for piece in sweep_log(read_sections(source), sweep):
        target.write(piece)
        digest.update(piece)
    digests[str(facts.get("sha256")).encode()] = digest.hexdigest().encode()
    return {**facts, "sha256": digest.hexdigest()}


def _line(line: bytes, sweep: Sweep, digests: Mapping[bytes, bytes]) -> bytes:
    if line.startswith(b"# "):
        line = _DIGEST.sub(lambda match: digests.get(match[0], match[0]), line)
    return sweep.line(line)


def _renew_index(places: Places, index: Index, sweep: Sweep) -> None:
    with index.transaction():
        for run, report in index.rows("SELECT id, report FROM runs WHERE report IS NOT NULL"):
            index.rows("UPDATE runs SET report = ? WHERE id = ?", (sweep.json(report.encode()).decode(), run))
        index.rows("UPDATE live SET stale = 1")
        index.rows("DELETE FROM messages WHERE part < 0")
    reconcile(places, Journal(index))
    catch_up(places, index)
    with index.transaction():
        texts.drop_orphans(index)
    texts.purge(index)
