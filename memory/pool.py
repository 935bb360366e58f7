"""The events of the rule pools: an append-only table in a file of its own, read from where one left off.

An event is a line of JSON that this package does not look into, but for the secrets in it. Beside the events stands what
somebody made of all of them up to a place, so that the next start need not read them again.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from memory.db import OPEN_PATIENCE, Database
from memory.errors import StoreError
from memory.redaction import redact_json

PATIENCE = 5.0
"""Seconds that events wait for another process that writes."""

PAGE = 10_000
"""Events that are read at once."""

VERSION = 1

_CREATE = "CREATE TABLE IF NOT EXISTS events (seq INTEGER PRIMARY KEY AUTOINCREMENT, tenant TEXT NOT NULL, event TEXT NOT NULL)"
_KEEP = "CREATE TRIGGER IF NOT EXISTS events_{0} BEFORE {0} ON events BEGIN SELECT RAISE (ABORT, 'events are only added'); END"
# One statement for all of them: each further one costs as much as what asking for it takes.
_INSERT = """INSERT INTO events (tenant, event)
  SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(?) ORDER BY key"""
_SELECT = "SELECT seq, tenant, event FROM events WHERE seq > ? ORDER BY seq LIMIT ?"
_SNAPSHOT = "CREATE TABLE IF NOT EXISTS snapshot (id INTEGER PRIMARY KEY CHECK (id = 0), seq INTEGER NOT NULL, text TEXT NOT NULL)"
# Of two that are made at once the one that knows more stays.
_PUT = """INSERT INTO snapshot VALUES (0, ?, ?) ON CONFLICT DO UPDATE SET seq = excluded.seq, text = excluded.text
  WHERE excluded.seq >= seq"""


@dataclass(frozen=True, slots=True)
class EventRow:
    """One event as it is stored."""

    seq: int
    """Its place among all; later ones are larger, whichever process wrote them."""
    tenant: str
    event: str


class PoolEvents:
    """The file of pool events. One connection writes, another reads; several processes may have it open."""

    def __init__(self, writer: Database, reader: Database) -> None:
        self._writer = writer
        self._reader = reader

    @classmethod
    async def open(cls, path: Path) -> Self:
        """Open the file, or make it. `StoreError` if a newer version made it."""
        writer = await Database.open(path)
        try:
            await _prepare(path, writer)
            return cls(writer, await Database.open_reader(path))
        except BaseException:
            await writer.aclose()
            raise

    async def append(self, events: Sequence[tuple[str, str]]) -> None:
        """Add events, each with its tenant: all of them or, on `StoreError`, none."""
        if not events:
            return
        rows = [(tenant, _redacted(event)) for tenant, event in events]
        await self._writer.write(_INSERT, (json.dumps(rows),), PATIENCE)

    async def read(self, after: int = 0) -> list[EventRow]:
        """The next events after a place, at most `PAGE`, in order. Ask again until there are none."""
        rows = await self._reader.rows(_SELECT, (after, PAGE), patience=PATIENCE)
        return [EventRow(*row) for row in rows]

    async def read_snapshot(self) -> tuple[int, str] | None:
        """The place up to which a snapshot knows the events, and its text; `None` where there is none."""
        rows = await self._reader.rows("SELECT seq, text FROM snapshot", patience=PATIENCE)
        return rows[0] if rows else None

    async def put_snapshot(self, seq: int, text: str) -> None:
        """Keep what was made of the events up to a place, instead of an older one."""
        clean = await asyncio.to_thread(_redacted, text)  # it may be long
        await self._writer.write(_PUT, (seq, clean), PATIENCE)

    async def aclose(self) -> None:
        """Wait for the batch under way and close the file."""
        await self._reader.aclose()
        await self._writer.aclose()


async def _prepare(path: Path, database: Database) -> None:
    async with database.transaction(OPEN_PATIENCE):
        ((version,),) = await database.rows("PRAGMA user_version")
        if version > VERSION:
            raise StoreError(f"{path}: written by a newer version ({version}); upgrade taco-gateway")
        for statement in (_CREATE, _KEEP.format("update"), _KEEP.format("delete"), _SNAPSHOT):
            await database.rows(statement)
        await database.rows(f"PRAGMA user_version={VERSION}")


def _redacted(text: str) -> str:
    # Half a character becomes its escape, which in JSON is the same.
    return redact_json(text.encode("utf-8", "backslashreplace")).decode()
