"""Phase 2, Compress & Extract: each raw log becomes a file that can be put into a zip, and the lines that lead to it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from memory.L4_raw_sessions.compressing import Compressed, compress
from memory.L4_raw_sessions.exchanges import Exchange, read_exchanges
from memory.L4_raw_sessions.files import FULL, make_folder
from memory.L4_raw_sessions.history import lines_of
from memory.L4_raw_sessions.journal import Item, Plan
from memory.L4_raw_sessions.places import distinct, member_name, month_of
from memory.L4_raw_sessions.running import Run
from memory.L4_raw_sessions.sections import read_sections


class Changed(Exception):
    """A log is not what it was a moment ago, or what was made of it is not what it should be."""


def stage(run: Run, source: Path, place: int, lost: Mapping[str, Item]) -> None:
    """Compress one log. Whatever goes wrong with it is reported, and it stays; only a full disk ends the run."""
    target = run.staging / f"{run.id}-{place}"
    try:
        item = _stage(run, source, target)
    except Exception as error:
        target.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in FULL:
            raise
        run.report.errors.append(f"{source.name}: {error}; it stays where it is")
        return
    if item is None:
        run.note(source, "another log of this run holds a part of it; it comes with the next one")
        return
    before = lost.get(item.source)
    if before and before.state == "appended" and before.plan.sha256 == item.plan.sha256:
        item = replace(item, state="appended", plan=before.plan)  # its lines stand in the histories
    run.journal.add(item)
    run.pending.update(key for key, _ in item.plan.keys if item.plan.size)
    run.report.processed += 1
    run.report.bytes_raw += item.plan.raw_size
    run.report.sessions.append(item.plan.member)


def _stage(run: Run, source: Path, target: Path) -> Item | None:
    make_folder(target.parent)
    before = source.stat()
    with open(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        made = compress(source, file, run.archived.has_exchange)
    after = source.stat()
    if (before.st_ino, before.st_size, before.st_mtime_ns) != (after.st_ino, after.st_size, after.st_mtime_ns):
        raise Changed("somebody wrote to it while it was read")
    if any(key in run.pending for key, _ in made.keys):
        target.unlink()
        return None
    lines: list[str] = []
    known = run.archived.find_raw(made.raw_sha256)
    if known:
        made = replace(made, size=0)
    if not made.size:
        target.unlink()
        run.report.duplicates += bool(made.raw_size)
        run.report.details.append(
            f"{source.name}: {known or 'all of it'} is archived" if made.raw_size else f"{source.name}: empty"
        )
    else:
        lines = _check(target, made)
        run.report.redactions += made.redactions
    return Item(
        source=str(source),
        run=run.id,
        state="staged" if made.size else "verified",
        inode=before.st_ino,
        size=before.st_size,
        mtime_ns=before.st_mtime_ns,
        staged=target.name,
        plan=_plan(run, made, lines),
    )


def _check(path: Path, made: Compressed) -> list[str]:
    """What stands on the disk is what was meant to, and tells all exchanges of the log; its lines for the histories."""
    with path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != made.sha256:
            raise Changed("what was written of it cannot be read back; check the disk")
        file.seek(0)
        ids: list[str | None] = []
        lines = lines_of(_noted(read_exchanges(read_sections(file)), ids))
    if ids != [id_ for _, id_ in made.keys]:
        raise Changed("its exchanges would not be found again in what was made of it")
    return lines


def _noted(exchanges: Iterable[Exchange], ids: list[str | None]) -> Iterator[Exchange]:
    for exchange in exchanges:
        ids.append(exchange.id)
        yield exchange


def _plan(run: Run, made: Compressed, lines: list[str]) -> Plan:
    month = month_of(made.started)
    return Plan(
        member=_name(run, month, made) if made.size else "",
        month=month,
        format=made.format,
        session=made.session,
        model=made.model,
        started=made.started,
        ended=made.ended,
        messages=made.messages,
        keys=made.keys,
        size=made.size,
        sha256=made.sha256,
        raw_size=made.raw_size,
        raw_sha256=made.raw_sha256,
        lines=tuple(lines),
    )


def _name(run: Run, month: str, made: Compressed) -> str:
    """The name of a member: its minutes, and its hash if another content of that month has them."""
    names = run.archived.names(month)
    name = member_name(made.started, made.ended)
    if names.get(name, made.sha256) != made.sha256:
        name = distinct(name, made.sha256)
    names[name] = made.sha256
    return name
