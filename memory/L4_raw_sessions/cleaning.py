"""Phase 6, Cleanup: raw logs whose members were read back go into the trash, what is old there goes, and so does what
`archive.sqlite` holds of them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memory.errors import StoreError
from memory.L4_raw_sessions.emptying import empty
from memory.L4_raw_sessions.exchanges import read_exchanges
from memory.L4_raw_sessions.files import move, settle
from memory.L4_raw_sessions.journal import Item
from memory.L4_raw_sessions.running import Run
from memory.L4_raw_sessions.sections import read_sections

_STAMP = re.compile(r"(\d{8}T\d{6}Z)-.*")


def clean_up(run: Run) -> None:
    """Move them, if they are as they were when they were read."""
    done, target = [], run.places.trash / run.id
    for item in run.journal.items("verified"):
        source = Path(item.source)
        if _is_as_it_was(source, item):
            move(source, target / source.name)
            run.report.deleted_raw += 1
        elif source.exists():
            run.report.details.append(f"{source.name}: somebody wrote to it; what is new comes with the next run")
        done.append(item)
        (run.staging / item.staged).unlink(missing_ok=True)
    if target.exists():
        settle(target)
    run.journal.drop(done)
    for folder in _old(run):
        _empty(run, folder)
    try:
        run.report.let_go += empty(run.places, run.journal.index)
    except StoreError as error:
        run.report.details.append(f"{error}; what the zips hold stays there until the next run")


def _is_as_it_was(source: Path, item: Item) -> bool:
    try:
        status = source.stat()
        with source.open("rb") as file:
            same = hashlib.file_digest(file, "sha256").hexdigest() == item.plan.raw_sha256
    except OSError:
        return False
    return same and (status.st_ino, status.st_size, status.st_mtime_ns) == (item.inode, item.size, item.mtime_ns)


def _old(run: Run) -> Iterable[Path]:
    oldest = datetime.fromtimestamp(run.now, UTC) - timedelta(days=run.limits.trash_days)
    for folder in run.places.trash.glob("*"):
        match = _STAMP.fullmatch(folder.name)
        if match and datetime.strptime(match[1], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC) <= oldest:
            yield folder


def _empty(run: Run, folder: Path) -> None:
    """Delete what has lain in the trash long enough, if all of it can still be read from a zip."""
    for path in folder.iterdir():
        if _is_archived(run, path):
            path.unlink()
        else:
            run.report.errors.append(f"trash: {folder.name}/{path.name} can be read from no zip; it stays")
    with suppress(OSError):  # something stays in it
        folder.rmdir()


def _is_archived(run: Run, path: Path) -> bool:
    with path.open("rb") as file:
        if run.archived.find_raw(hashlib.file_digest(file, "sha256").hexdigest()):
            return True
        file.seek(0)
        return all(run.archived.has_exchange(exchange.key) for exchange in read_exchanges(read_sections(file)))
