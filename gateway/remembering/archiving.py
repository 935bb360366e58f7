"""The archive's rounds: every twelve hours each tenant's quiet sessions go into the monthly zips, in a process of its own.

Several gateways may share the folder: the journal says when, and a lock sees to it that only one of them does it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import structlog

from gateway import processes
from gateway.config import Config, Memory
from gateway.evolving.rules import read_pools
from gateway.recording.prices import PriceBook
from gateway.remembering.consolidating import consolidate
from gateway.remembering.retaining import let_go
from memory import Archive, StoreError, batch_process
from memory.L4_raw_sessions.places import places_of
from memory.L4_raw_sessions.schedule import is_due
from memory.levels import Levels
from memory.roots import data_of, raw_folder, roots, tenant_at

TICK = 60.0
"""Seconds between two looks at the clock."""

Work = Callable[[Path], Awaitable[dict[str, Any]]]
"""A tenant's folder → the report of a run over it."""


class Archiving:
    """Looks after the archives of one data folder."""

    def __init__(self, data: Path, clock: Callable[[], float], work: Work) -> None:
        self._data = data
        self._clock = clock
        self._work = work
        self._log = structlog.get_logger("taco")
        self.problem: str | None = None
        """Why the last round did not do all of its work."""

    async def run(self) -> None:
        """Make the rounds, until cancelled."""
        while True:
            await self.round()
            await asyncio.sleep(TICK)

    async def round(self) -> None:
        """Archive where it is due. Whatever goes wrong is tried again later, and costs no request."""
        due = await asyncio.to_thread(self._due)
        problems = [problem for root in due for problem in await self._archive(root)]
        if due:
            self.problem = "; ".join(problems) or None

    async def _archive(self, root: Path) -> list[str]:
        try:
            report = await self._work(root)
        except Exception as error:  # the next look tries again
            self._log.exception("archive run failed", folder=str(root))
            return [f"archive run: {error}"]
        self._log.info("archive run", folder=str(root), **_line(report))
        return [f"archive run: {error}" for error in report["errors"]]

    def _due(self) -> list[Path]:
        now = self._clock()
        return [
            root for root in roots(self._data) if raw_folder(root).is_dir() and is_due(places_of(raw_folder(root)), now)
        ]


def in_a_process(config: Config) -> Work:
    """Archives a tenant's sessions in a process that gives way to all others."""

    async def work(root: Path) -> dict[str, Any]:
        return await processes.run(archive, config, root)

    return work


def archive(config: Config, root: Path) -> dict[str, Any]:
    """Archive a tenant's sessions; then bring the levels above them up to date, and let go of what is kept no longer."""
    raw = raw_folder(root)
    report = batch_process(raw, places_of(raw).folder, dry_run=False)
    new = [(one["session"], one["name"]) for one in report["archived"]]
    if new:
        report["details"] += asyncio.run(_consolidated(config, root, new))
    if report["state"] == "done":
        _retain(config.memory, root, report)
    return report


def _retain(limits: Memory, root: Path, report: dict[str, Any]) -> None:
    """Only what a run has archived can be too old: raw logs are never let go of unread."""
    days = limits.retain_days or None
    size = int(limits.retain_megabytes * 1e6) or None
    if days is None and size is None:
        return
    try:
        gone = let_go(root, Levels(root / "memory", time.time), time.time(), days=days, size=size, dry_run=False)
    except StoreError as error:
        report["errors"].append(f"retention: {error}")
    else:
        report["details"] += [f"{len(gone)} archived parts are kept no longer"] if gone else []


async def _consolidated(config: Config, root: Path, new: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    data, tenant = data_of(root), tenant_at(root)
    pool = (await read_pools(config, data)).of(tenant)
    archive = await Archive.open(data)
    try:
        levels = Levels(root / "memory", time.time)
        levels.start()
        done = await consolidate(archive, levels, tenant, config, PriceBook(), pool, new)
    finally:
        await archive.aclose()
    return done.problems


def _line(report: dict[str, Any]) -> dict[str, Any]:
    """The numbers of a report."""
    names = ("run_id", "state", "processed", "new_sessions", "deleted_raw", "skipped", "duplicates", "quarantined")
    return {name: report[name] for name in (*names, "bytes_raw", "bytes_archived", "seconds")}
