"""The archive: every exchange, each message once, each rewrite in the chain of the audit."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Self

from memory import audit, contents
from memory.canon import digest
from memory.db import Database
from memory.forgetting import forget, forget_lost
from memory.letting_go import IsHeld, let_go, reclaim
from memory.migrations import migrate
from memory.reading import Reader, row_of
from memory.redacting import Sweeper, redact_rows
from memory.rows import Prepared, prepare, strip
from memory.types import ExchangeRecord, Report
from memory.verifying import verify

FILE = "archive.sqlite"

HEADS = 1000
"""Request heads (bodies without their messages) that are remembered as stored, so that they are not packed again."""

PATIENCE = 5.0
"""Seconds that a batch waits for another process that writes."""

# What was forgotten must not stand in free pages, and what was let go of must not take room.
_PRAGMAS = ("auto_vacuum=INCREMENTAL", "secure_delete=ON")


class Archive(Reader):
    """One folder's archive. One connection writes, another reads; several processes may have it open."""

    def __init__(self, folder: Path, writer: Database, database: Database, executor: Executor | None) -> None:
        super().__init__(folder, database)
        self._writer = writer
        self._executor = executor
        self._heads: dict[str, str] = {}

    @classmethod
    async def open(cls, folder: Path, executor: Executor | None = None) -> Self:
        """Open the archive, or make it. Redaction and compression run in `executor`, by default in a thread."""
        path = folder / FILE
        writer = await Database.open(path, pragmas=_PRAGMAS)
        try:
            await migrate(writer)
            return cls(folder, writer, await Database.open_reader(path), executor)
        except BaseException:
            await writer.aclose()
            raise

    async def _distinct(self, records: Sequence[ExchangeRecord]) -> list[ExchangeRecord]:
        """Each exchange once, under an id of its own: clients choose ids, and some send one again with another request."""
        ids = json.dumps([record.id for record in records])
        sql = "SELECT id, started FROM exchanges WHERE id IN (SELECT value FROM json_each(?))"
        began: dict[str, float] = dict(await self._writer.rows(sql, (ids,)))
        out: dict[str, ExchangeRecord] = {}
        for record in records:
            if began.setdefault(record.id, record.started) != record.started:
                record = replace(record, id=f"{record.id}~{round(record.started * 1000):x}")
            out.setdefault(record.id, record)
        return list(out.values())

    async def append(self, records: Sequence[ExchangeRecord]) -> None:
        """Store all of them or, on `StoreError`, none. An exchange that is stored already is left as it is."""
        fresh = await self._distinct(records)
        known = await self.known([message.hash for record in fresh for message in record.messages])
        names = [digest(record.head) if record.head else "" for record in fresh]
        heads = await self._stored_heads(names)
        stripped = [strip(record, known, name in heads) for record, name in zip(fresh, names, strict=True)]
        prepared = await asyncio.get_running_loop().run_in_executor(self._executor, prepare, stripped)
        prepared = [replace(item, head=heads.get(name, item.head)) for item, name in zip(prepared, names, strict=True)]
        async with self._writer.transaction(PATIENCE):
            ids = json.dumps([record.id for record in fresh])
            stored = await self._writer.rows(
                "SELECT id FROM exchanges WHERE id IN (SELECT value FROM json_each(?))", (ids,)
            )
            await self._write([item for item in prepared if (item.record.id,) not in stored])
        if len(self._heads) > HEADS:
            self._heads.clear()
        self._heads |= {name: item.head for name, item in zip(names, prepared, strict=True) if item.head}

    async def _stored_heads(self, names: Sequence[str]) -> dict[str, str]:
        """Heads that need not be redacted and packed again: an agent sends the same tools with every request."""
        candidates = {name: self._heads[name] for name in names if name in self._heads}
        stored = await self.stored(tuple(candidates.values())) if candidates else frozenset()
        return {name: head for name, head in candidates.items() if head in stored}

    async def _write(self, batch: Sequence[Prepared]) -> None:
        run = self._writer.run_many
        await contents.put(self._writer, [content for item in batch for content in item.contents])
        await run(_MESSAGE, [row for item in batch for row in item.messages])
        await run(_USE, [(item.record.session, json.dumps([row[0] for row in item.messages])) for item in batch])
        await run(_EXCHANGE, [_exchange(item) for item in batch])
        await run(_SIGNAL, [row for item in batch for row in _signals(item.record)])
        await self._link(batch)

    async def _link(self, batch: Sequence[Prepared]) -> None:
        if not any(item.rewrites for item in batch):
            return
        last = await self._writer.rows("SELECT seq, digest FROM rewrites ORDER BY seq DESC LIMIT 1")
        seq, digest = last[0] if last else (0, audit.GENESIS)
        rows, texts = [], []
        for item in batch:
            for facts, parts in item.rewrites:
                seq, digest = seq + 1, audit.link(digest, facts)
                rows.append((seq, facts, digest))
                tenant = item.record.tenant
                texts += [(seq, k, tenant, text.recall, text.salt, text.data) for k, text in enumerate(parts)]
        await self._writer.run_many("INSERT INTO rewrites (seq, facts, digest) VALUES (?, ?, ?)", rows)
        await self._writer.run_many("INSERT INTO texts VALUES (?, ?, ?, ?, ?, ?)", texts)

    async def verify(self) -> Report:
        """Check every content against its digest, every message against its parent, every rewrite against the chain."""
        return await verify(self, self._database)

    async def export_rewrites(self) -> AsyncIterator[dict[str, Any]]:
        """All rewrites with their texts, in the order of the chain, as plain data."""
        async for page in self.pages():
            for seq, facts, name in page:
                yield asdict(row_of(seq, facts, name, await self.texts(seq)))

    async def forget(self, session: str, tenant: str | None = None) -> int:
        """Empty what was said in a session, but for messages that another session shares; how many rows were emptied.

        With a tenant, only what was said in that tenant's session of this id. Numbers and the chain of the audit stay.
        `StoreBusy` means that it is gone from the file, but not yet from its log: call again.
        """
        async with self._writer.transaction(PATIENCE):
            emptied = await forget(self._writer, session, tenant)
        await self._writer.truncate_log(PATIENCE)
        return emptied

    async def forget_lost(self, session: str, messages: Sequence[str]) -> int:
        """Mark those messages of a session as forgotten whose contents stood in a zip that was let go of; how many."""
        async with self._writer.transaction(PATIENCE):
            return await forget_lost(self._writer, session, messages)

    async def let_go(self, session: str, held: Mapping[str, str], is_held: IsHeld) -> int:
        """Drop contents that a verified zip holds, too; how many.

        `held`: the names of a session's messages, and the digests of what the zip holds under them. A content stays
        as long as a session refers to it whose own zip does not hold it.
        """
        return await let_go(self._writer, session, held, is_held)

    async def take_back(self, session: str, held: Mapping[str, str]) -> None:
        """Ask the zips again for messages that were forgotten in a session and stand in them: by name, with their digests."""
        rows = [(digest, name) for name, digest in held.items()]
        async with self._writer.transaction(PATIENCE):
            await self._writer.run_many("UPDATE messages SET content = ? WHERE hash = ? AND content IS NULL", rows)
            await self._writer.run_many(_USE, [(session, json.dumps([*held]))])

    async def reclaim(self) -> None:
        """Give the room of what is gone back to the disk, little by little, so that whoever writes does not wait."""
        await reclaim(self._writer)
        await self._writer.truncate_log(PATIENCE)

    async def redact(self, sweep: Sweeper) -> int:
        """Redact all that is stored again; how many rows were changed."""
        changed = await redact_rows(self._writer, sweep)
        await self._writer.truncate_log(PATIENCE)
        return changed

    async def aclose(self) -> None:
        """Wait for the batch under way and close the file."""
        await self._database.aclose()
        await self._writer.aclose()


_MESSAGE = """INSERT INTO messages VALUES (?, ?, ?, ?, ?) ON CONFLICT (hash)
  DO UPDATE SET content = excluded.content, exact = excluded.exact
  WHERE excluded.content IS NOT NULL AND NOT EXISTS (SELECT 1 FROM contents WHERE digest = messages.content)"""
_USE = "INSERT INTO uses (session, hash) SELECT ?, value FROM json_each(?) WHERE true ON CONFLICT DO NOTHING"
_EXCHANGE = f"INSERT INTO exchanges VALUES ({', '.join('?' * 24)})"
_SIGNAL = "INSERT INTO signals VALUES (?, ?, ?, ?, ?, ?)"


def _exchange(item: Prepared) -> tuple[object, ...]:
    r = item.record
    reply = r.reply.hash if r.reply else None
    reported = None if r.reported is None else json.dumps(dict(r.reported))
    return (
        *(r.id, r.session, r.parent_session, r.tenant, r.started, r.first_byte, r.ended, r.method, r.path, r.shape),
        *(r.upstream, r.model, r.stream, r.retry, r.status, r.outcome, r.error, r.tip, item.head, reply, reported),
        *(json.dumps(dict(r.accounts)), json.dumps(dict(r.kept)), len(r.rewrites)),
    )


def _signals(record: ExchangeRecord) -> list[tuple[object, ...]]:
    return [(record.id, s.name, s.key, json.dumps(s.rules), s.evidence, s.weight) for s in record.signals]
