"""Decisions that are pinned: chosen once by key, across tasks and processes, and found again after a restart.

They have a file of their own, so that no batch of the archive ever holds its lock. A decision is kept until no request
has used it for so many days; on which day one did is written down now and then, never while a request waits.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from memory.db import OPEN_PATIENCE, Database, Row
from memory.errors import StoreBusy, StoreError

_CREATE = "CREATE TABLE IF NOT EXISTS decisions (key TEXT PRIMARY KEY, value BLOB NOT NULL)"
# The day since the epoch on which a request last used it; 0: that has not been written down yet.
_ADD_USED = "ALTER TABLE decisions ADD COLUMN used INTEGER NOT NULL DEFAULT 0"
_INDEX = "CREATE INDEX IF NOT EXISTS decisions_used ON decisions (used)"
# The update changes nothing; it makes RETURNING speak of the row that was there first.
_PIN = "INSERT INTO decisions (key, value) VALUES {} ON CONFLICT (key) DO UPDATE SET key = key RETURNING key, value"
_SELECT = "SELECT key, value FROM decisions WHERE key IN (SELECT value FROM json_each(?))"
_STALE = "SELECT key FROM decisions WHERE key IN (SELECT value FROM json_each(?)) AND used < ?"
_UNDATED = "SELECT key FROM decisions WHERE used = 0"
_DATE = "UPDATE decisions SET used = ? WHERE key IN (SELECT value FROM json_each(?))"
_UNUSED = "SELECT key FROM decisions WHERE used BETWEEN 1 AND ?"
_FORGET = "DELETE FROM decisions WHERE used BETWEEN 1 AND ? AND key IN (SELECT value FROM json_each(?))"

# Rows in one statement, well below the number of parameters that SQLite allows.
_BATCH = 1000
# Rows that are dated or forgotten in one transaction: a choice that comes meanwhile waits for no more than these.
_SLICE = 200
PATIENCE = 5.0
"""Seconds that dating and forgetting wait for another process that writes."""

# Moving pages from the log into the file waits for the disk; `checkpoint` does it off the path.
_PRAGMAS = ("wal_autocheckpoint=0",)


@dataclass(frozen=True, slots=True)
class Choice:
    """What is pinned for the keys that were asked for, and the commit that is under way."""

    winners: Mapping[str, bytes]
    _commit: asyncio.Task[None] | None

    async def committed(self) -> None:
        """Return when the choice survives a crash of this process; raise `StoreError` if it never will."""
        if self._commit is not None:
            await asyncio.shield(self._commit)


class Decisions:
    """The file of pinned decisions: whoever commits a key first decides it for everybody."""

    def __init__(self, path: Path, writer: Database, reader: Database) -> None:
        self._path = path
        self._writer = writer
        self._reader = reader
        self._commits: set[asyncio.Task[None]] = set()
        self._used: set[str] = set()

    @classmethod
    async def open(cls, path: Path) -> Self:
        """Open the file, or make it."""
        writer = await Database.open(path, pragmas=_PRAGMAS)
        try:
            await _prepare(writer)
            return cls(path, writer, await Database.open_reader(path))
        except BaseException:
            await writer.aclose()
            raise

    async def find(self, keys: Sequence[str], deadline: float = 1.0) -> dict[str, bytes]:
        """What is pinned for these keys; `StoreBusy` if that cannot be read within `deadline` seconds."""
        if not keys:
            return {}
        try:
            async with asyncio.timeout(deadline):
                return dict(await self._reader.rows(_SELECT, (json.dumps(list(keys)),), patience=deadline))
        except TimeoutError:
            raise StoreBusy(f"{self._path}: not read in time; the disk may be slow") from None

    async def choose(self, rows: Sequence[tuple[str, bytes]], deadline: float) -> Choice:
        """Pin each value unless its key has one, and say what is pinned now.

        After `deadline` seconds nothing was pinned and `StoreBusy` is raised. Otherwise the commit goes on beside
        the caller, who asks `Choice.committed` for its end.
        """
        if not rows:
            return Choice({}, None)
        winners: asyncio.Future[dict[str, bytes]] = asyncio.get_running_loop().create_future()
        commit = asyncio.ensure_future(self._pin(rows, deadline, winners))
        self._commits.add(commit)
        commit.add_done_callback(self._settle)
        try:
            await asyncio.wait((winners,), timeout=deadline)
        finally:
            late = winners.cancel()
        if late:
            raise StoreBusy(f"{self._path}: no decision within {deadline:g} s; it may be locked or the disk slow")
        return Choice(winners.result(), commit)

    async def _pin(
        self, rows: Sequence[tuple[str, bytes]], deadline: float, winners: asyncio.Future[dict[str, bytes]]
    ) -> None:
        try:
            async with self._writer.transaction(deadline):
                found: dict[str, bytes] = {}
                for batch in (rows[at : at + _BATCH] for at in range(0, len(rows), _BATCH)):
                    pin = _PIN.format(",".join(["(?, ?)"] * len(batch)))
                    found.update(await self._writer.rows(pin, [value for row in batch for value in row]))
                # Raises where the caller has given up, and so rolls back.
                winners.set_result(found)
        except (StoreError, asyncio.InvalidStateError) as error:
            if winners.cancelled():
                return
            if winners.done():
                raise
            winners.set_exception(error)

    def _settle(self, commit: asyncio.Task[None]) -> None:
        self._commits.discard(commit)
        if not commit.cancelled():
            # Marks it as seen: a caller that left before the commit ended must not make the loop complain.
            commit.exception()

    async def checkpoint(self) -> int:
        """Move what is committed from the log into the file; how many pages of the log could not be moved yet."""
        database = await Database.open(self._path, pragmas=_PRAGMAS, create=False)
        try:
            ((_, logged, moved),) = await database.rows("PRAGMA wal_checkpoint(PASSIVE)")
        finally:
            await database.aclose()
        return int(logged) - int(moved)

    def note_used(self, keys: Iterable[str]) -> None:
        """Remember, until the next `expire`, that a request has used these decisions."""
        self._used.update(keys)

    async def expire(self, today: int, days: int) -> int:
        """Write down what was used, then forget what no request has used for more than `days` days; 0 keeps everything.

        `today` counts days since the epoch. Returns how many were forgotten. Raises `StoreError`; then what was noted
        and not written down counts as used when it is next used.
        """
        used, self._used = self._used, set()
        stale = await self._reader.rows(_STALE, (json.dumps(list(used)), today), patience=PATIENCE)
        undated = await self._reader.rows(_UNDATED, patience=PATIENCE)
        await self._in_slices(_DATE, today, [*stale, *undated])
        if days <= 0:
            return 0
        last = today - days - 1
        found = await self._reader.rows(_UNUSED, (last,), patience=PATIENCE)
        unused = [row for row in found if row[0] not in self._used]
        await self._in_slices(_FORGET, last, unused)
        return len(unused)

    async def _in_slices(self, statement: str, day: int, keys: Sequence[Row]) -> None:
        for at in range(0, len(keys), _SLICE):
            names = json.dumps([key for (key,) in keys[at : at + _SLICE]])
            await self._writer.write(statement, (day, names), PATIENCE)

    async def aclose(self) -> None:
        """Wait for the commits under way and close the file."""
        if self._commits:
            await asyncio.wait(self._commits)
        await self._reader.aclose()
        await self._writer.aclose()


async def _prepare(database: Database) -> None:
    """The table in its newest form; an older file does not say when a decision was last used."""
    async with database.transaction(OPEN_PATIENCE):
        await database.rows(_CREATE)
        if all(name != "used" for _, name, *_ in await database.rows("PRAGMA table_info(decisions)")):
            await database.rows(_ADD_USED)
        await database.rows(_INDEX)
