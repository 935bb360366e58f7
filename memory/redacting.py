"""Redacting the archive again: contents get new digests, messages keep their names; what is sealed and must change is emptied."""

from __future__ import annotations

from typing import Protocol

from memory import contents
from memory.db import Database
from memory.rows import inflate, pack

PATIENCE = 5.0

BATCH = 200


class Sweeper(Protocol):
    """Takes out of texts what is not to be stored."""

    def text(self, text: str) -> str:
        """A text without it."""

    def json(self, data: bytes) -> bytes:
        """The same JSON without it in its strings."""


async def redact_rows(database: Database, sweep: Sweeper) -> int:
    """Redact all rows, some at a time, each time in one transaction; how many were changed."""
    changed = 0
    digests = [digest for (digest,) in await database.rows("SELECT digest FROM contents", patience=PATIENCE)]
    for at in range(0, len(digests), BATCH):
        async with database.transaction(PATIENCE):
            for digest in digests[at : at + BATCH]:
                changed += await _redact_content(database, sweep, digest)
    async with database.transaction(PATIENCE):
        changed += await _redact_signals(database, sweep)
        changed += await _redact_errors(database, sweep)
    for (seq,) in await database.rows("SELECT seq FROM rewrites", patience=PATIENCE):
        async with database.transaction(PATIENCE):
            changed += await _empty_texts(database, sweep, seq)
    return changed


async def _redact_content(database: Database, sweep: Sweeper, digest: str) -> bool:
    before = await contents.read(database, digest)
    if before is None:
        return False
    after = sweep.json(before)
    if after == before:
        return False
    content = pack(after)
    await contents.put(database, [content])
    await database.rows("UPDATE messages SET content = ?, exact = 0 WHERE content = ?", (content.digest, digest))
    await database.rows("UPDATE exchanges SET head = ? WHERE head = ?", (content.digest, digest))
    await contents.drop(database, [digest])
    return True


async def _redact_signals(database: Database, sweep: Sweeper) -> int:
    changed = 0
    for (evidence,) in await database.rows("SELECT DISTINCT evidence FROM signals WHERE evidence <> ''"):
        if (other := sweep.text(evidence)) != evidence:
            await database.rows("UPDATE signals SET evidence = ? WHERE evidence = ?", (other, evidence))
            changed += 1
    return changed


async def _redact_errors(database: Database, sweep: Sweeper) -> int:
    changed = 0
    sql = "SELECT id, error, reported FROM exchanges WHERE coalesce(error, reported) IS NOT NULL"
    for id_, error, reported in await database.rows(sql):
        other = None if error is None else sweep.text(error)
        usage = None if reported is None else sweep.json(reported.encode()).decode()
        if (other, usage) != (error, reported):
            await database.rows("UPDATE exchanges SET error = ?, reported = ? WHERE id = ?", (other, usage, id_))
            changed += 1
    return changed


async def _empty_texts(database: Database, sweep: Sweeper, seq: int) -> int:
    """A text of the audit is sealed: it cannot be changed, only emptied, and with it those that are made of it."""
    rows = await database.rows("SELECT data FROM texts WHERE rewrite = ? AND data IS NOT NULL", (seq,))
    said = [inflate(data).decode() for (data,) in rows]
    if all(sweep.text(text) == text for text in said):
        return 0
    await database.rows("UPDATE texts SET salt = NULL, data = NULL WHERE rewrite = ?", (seq,))
    return len(rows)
