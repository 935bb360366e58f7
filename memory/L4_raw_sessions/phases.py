"""The six phases, one after the other: Scan, Compress & Extract, Append History, Archive, Verify & Index, Cleanup.

    raw log ─seal→ sealed ─compress→ staged ─append→ appended ─zip→ in the zip ─read back→ verified ─move→ trash

Cut off anywhere, the next run finds each log whole in the raw folder, and goes on from what its journal says.
"""

from __future__ import annotations

import secrets
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory.errors import StoreCorrupt, StoreError
from memory.L4_raw_sessions.appending import append
from memory.L4_raw_sessions.archived import Archived
from memory.L4_raw_sessions.cleaning import clean_up
from memory.L4_raw_sessions.files import FULL, lease
from memory.L4_raw_sessions.index import Index, put_aside
from memory.L4_raw_sessions.journal import Journal
from memory.L4_raw_sessions.places import Places
from memory.L4_raw_sessions.reconciling import reconcile
from memory.L4_raw_sessions.running import PHASES, Limits, Report, Run
from memory.L4_raw_sessions.scanning import resume, scan
from memory.L4_raw_sessions.staging import stage
from memory.L4_raw_sessions.verifying import archive, verify

CHUNK = 500
"""Logs that go through the phases together: so many are in memory by their lines, and a zip is written anew for each lot."""

Raw = Path | tuple[Path, ...]


def run(raw: Raw, places: Places, limits: Limits, clock: Callable[[], float]) -> Report:
    """Archive what is quiet. What goes wrong is in the report, and costs no log."""
    began, now = time.monotonic(), clock()
    report = Report(run_id=_name(now))
    try:
        with lease(places.lock) as held:
            if held:
                try:
                    _run(raw, places, limits, now, report)
                except StoreCorrupt as error:
                    _put_aside(places, report, error)
                    _run(raw, places, limits, now, report)
            else:
                report.state = "busy"
                report.details.append("another run is under way")
    except (OSError, StoreError) as error:
        report.state = "failed"
        report.errors.append(_say(error))
    report.seconds = round(time.monotonic() - began, 3)
    return report


def preview(raw: Raw, places: Places, limits: Limits, clock: Callable[[], float]) -> Report:
    """What a run would do now, found out in a folder of its own; nothing else is written."""
    began, now = time.monotonic(), clock()
    report = Report(run_id=_name(now), dry_run=True)
    with tempfile.TemporaryDirectory() as folder, closing(Index.open(Path(folder) / "index.sqlite")) as index:
        real = _reader(places, report)
        _copy_sightings(real, index)
        current = Run(
            id=report.run_id,
            raw=raw,
            places=places,
            staging=Path(folder) / "staging",
            journal=Journal(index),
            archived=Archived(places, real),
            now=now,
            limits=limits,
            report=report,
        )
        for place, path in enumerate(scan(current, seal=False)):
            stage(current, path, place, {})
        report.sessions = [item.plan.member for item in current.journal.items("staged")]
        if real:
            real.close()
    report.new_sessions = len(report.sessions)
    report.seconds = round(time.monotonic() - began, 3)
    return report


def _run(raw: Raw, places: Places, limits: Limits, now: float, report: Report) -> None:
    with closing(Index.open(places.index)) as index:
        journal = Journal(index)
        journal.begin(report.run_id, now)
        current = Run(
            id=report.run_id,
            raw=raw,
            places=places,
            staging=places.staging,
            journal=journal,
            archived=Archived(places, index),
            now=now,
            limits=limits,
            report=report,
        )
        try:
            _walk(current)
        except StoreCorrupt:
            raise
        except BaseException as error:
            report.state = "failed"
            report.errors.append(_say(error))
            journal.end(report.run_id, now, report.state, _lasting(report))
            if not isinstance(error, OSError | StoreError):
                raise
        else:
            journal.end(report.run_id, now, report.state, _lasting(report))


def _lasting(report: Report) -> dict[str, Any]:
    """What stays of a report: no names of sessions, which may be forgotten."""
    return {name: value for name, value in report.as_dict().items() if name != "archived"}


def _walk(run: Run) -> None:
    """The phases, in order."""
    scanning, staging, *rest = PHASES
    run.journal.enter(run.id, scanning)
    run.report.errors += reconcile(run.places, run.journal)
    lost = resume(run)
    found = scan(run, seal=True)
    for at in range(0, max(1, len(found)), CHUNK):
        run.journal.enter(run.id, staging)
        for place, path in enumerate(found[at : at + CHUNK], at):
            stage(run, path, place, lost)
        for phase, work in zip(rest, (append, archive, verify, clean_up), strict=True):
            run.journal.enter(run.id, phase)
            work(run)


def _put_aside(places: Places, report: Report, error: StoreCorrupt) -> None:
    aside = places.quarantine / f"{places.index.name}.{report.run_id}"
    put_aside(places.index, aside)
    report.quarantined += 1
    report.errors.append(f"{error}; put aside as {aside.name}, and made anew from the zips")


def _reader(places: Places, report: Report) -> Index | None:
    try:
        return Index.open_reader(places.index)
    except StoreError as error:
        report.errors.append(str(error))
        return None


def _copy_sightings(source: Index | None, target: Index) -> None:
    rows = source.rows("SELECT * FROM sightings") if source else []
    target.run_many("INSERT INTO sightings VALUES (?, ?, ?, ?, ?)", rows)


def _name(now: float) -> str:
    return f"{datetime.fromtimestamp(now, UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"


def _say(error: BaseException) -> str:
    if isinstance(error, OSError) and error.errno in FULL:
        where = f"{Path(error.filename).parent}: " if isinstance(error.filename, str) else ""
        return f"{where}the disk is full: no log was deleted; free some space, and the next run goes on"
    return str(error) or type(error).__name__
