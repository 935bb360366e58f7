"""Phase 1, Scan: finish what the journal says, then find the raw logs that are quiet and seal them."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from memory.L4_raw_sessions.journal import HistoryPlan, Item
from memory.L4_raw_sessions.places import RAW, SEAL, SEALED
from memory.L4_raw_sessions.running import Run
from memory.L4_raw_sessions.sections import Section

TAIL = 1 << 16
"""Bytes at the end of a log in which its last exchange is looked for."""

_LAST = re.compile(rb"^=== (?:Prompt|Response) === [^\n]* len=[^\n]*\n", re.MULTILINE)


def resume(run: Run) -> dict[str, Item]:
    """Settle what earlier runs left. Those logs whose staged file is gone come back, to be staged again."""
    for name, plan in run.journal.announced():
        run.journal.appended(name, settle_history(run.places.histories, plan))
    items = run.journal.items("staged", "appended")
    lost = [item for item in items if not _is_whole(run.staging / item.staged, item.plan.sha256)]
    run.journal.drop(lost)
    for item in (item for item in items if item not in lost):
        run.pending.update(key for key, _ in item.plan.keys)
        run.archived.names(item.plan.month)[item.plan.member] = item.plan.sha256
    needed = {item.staged for item in items} - {item.staged for item in lost}
    for path in run.staging.glob("*"):
        if path.name not in needed:
            path.unlink()
    return {item.source: item for item in lost}


def settle_history(path: Path, plan: HistoryPlan) -> bool:
    """Whether what was announced stands in the histories; a part of it, at their end, is cut off again."""
    try:
        with path.open("r+b") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(plan.at)
            if hashlib.sha256(file.read(plan.size)).hexdigest() == plan.sha256:
                return True
            if plan.at < end <= plan.at + plan.size:
                file.truncate(plan.at)
                os.fsync(file.fileno())
    except FileNotFoundError:
        pass
    return False


def scan(run: Run, *, seal: bool) -> list[Path]:
    """The logs to compress, the oldest first; sealed, so that what is written from now on begins a new one."""
    found = []
    for path in _quiet(run):
        try:
            found.append(_seal(path, run.id) if seal and path.suffix != SEAL else path)
        except BlockingIOError:
            run.note(path, "somebody writes to it")
        except OSError as error:
            run.report.errors.append(f"{path.name}: cannot be put aside: {error.strerror}; it stays where it is")
    return found


def _quiet(run: Run) -> list[Path]:
    """The logs that nobody writes to any more; the others are noted."""
    listed = sorted(_listed(run), key=lambda found: (found[1].st_mtime_ns, found[0]))
    newest = len(listed) - run.limits.keep_newest
    out = []
    for place, (path, status) in enumerate(listed):
        if place >= newest:
            run.note(path, f"one of the {run.limits.keep_newest} newest")
        elif status.st_size < run.limits.min_bytes:
            run.note(path, f"smaller than {run.limits.min_bytes} bytes")
        elif not _is_quiet(run, path, status):
            run.note(path, f"in use within the last {run.limits.min_age_s:g} s")
        else:
            out.append(path)
    return out


def _listed(run: Run) -> Iterator[tuple[Path, os.stat_result]]:
    taken = {item.source for item in run.journal.items("staged", "appended", "verified")}
    if isinstance(run.raw, Path):
        if not run.raw.is_dir():
            run.report.errors.append(f"{run.raw}: there is no such folder")
        paths: Iterable[Path] = (*run.raw.glob(SEALED), *run.raw.glob(RAW))
    else:
        paths = run.raw
    for path in paths:
        if str(path.absolute()) in taken:
            continue
        try:
            yield path.absolute(), path.stat()
        except OSError as error:
            run.report.errors.append(f"{path}: {error.strerror}")


def _is_quiet(run: Run, path: Path, status: os.stat_result) -> bool:
    last = max(status.st_mtime, _last_exchange(path, status.st_size))
    age = run.now - last
    return age >= run.limits.min_age_s if age >= 0 else _is_unchanged(run, path, status)


def _last_exchange(path: Path, size: int) -> float:
    """When the last exchange of a log of ours was; a copy of a log is younger than what is in it, and not the other way."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, size - TAIL))
            heads = _LAST.findall(file.read(TAIL))
    except OSError:
        return 0.0  # the phase that reads it will say so
    return (Section(heads[-1], b"").time or 0.0) if heads else 0.0


def _is_unchanged(run: Run, path: Path, status: os.stat_result) -> bool:
    """A time that is yet to come, as after the clock was set back, says nothing: then a log has to be seen twice."""
    index = run.journal.index
    seen = (status.st_ino, status.st_size, status.st_mtime_ns)
    rows = index.rows("SELECT inode, size, mtime_ns, since FROM sightings WHERE source = ?", (str(path),))
    if rows and tuple(rows[0][:3]) == seen and rows[0][3] <= run.now:
        return bool(run.now - rows[0][3] >= run.limits.min_age_s)
    index.rows("INSERT OR REPLACE INTO sightings VALUES (?, ?, ?, ?, ?)", (str(path), *seen, run.now))
    return False


def _seal(path: Path, run: str) -> Path:
    file = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        sealed = path.with_name(f"{path.stem}.{run}{SEAL}")
        os.rename(path, sealed)
    finally:
        os.close(file)
    return sealed


def _is_whole(path: Path, sha256: str) -> bool:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == sha256
    except OSError:
        return False
