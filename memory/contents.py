"""Contents in the archive's file, each once by its digest, with its blobs: put there, read, and dropped.

Whoever puts or drops does so inside a transaction of its own.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from memory.db import Database
from memory.rows import Content, unpack

_CONTENT = "INSERT INTO contents VALUES (?, ?) ON CONFLICT DO NOTHING"
_BLOB = "INSERT INTO blobs VALUES (?, ?) ON CONFLICT DO NOTHING"
_INSERT = "INSERT INTO inserts (content, place, ordinal, blob) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"

_DATA = "SELECT data FROM contents WHERE digest = ?"
_PARTS = "SELECT place, data FROM inserts JOIN blobs ON digest = blob WHERE content = ? ORDER BY ordinal"

_BLOBS = "SELECT DISTINCT blob FROM inserts WHERE content IN (SELECT value FROM json_each(?))"
_DROP = (
    "DELETE FROM contents WHERE digest IN (SELECT value FROM json_each(?))",
    "DELETE FROM inserts WHERE content IN (SELECT value FROM json_each(?))",
)
_DROP_BLOBS = """DELETE FROM blobs WHERE digest IN (SELECT value FROM json_each(?))
  AND NOT EXISTS (SELECT 1 FROM inserts WHERE blob = digest)"""


async def put(database: Database, contents: Sequence[Content]) -> None:
    """Put contents there; one that is there stays as it is."""
    blobs = [(content.digest, k, *blob) for content in contents for k, blob in enumerate(content.blobs)]
    await database.run_many(_CONTENT, [(content.digest, content.data) for content in contents])
    await database.run_many(_BLOB, [(digest, data) for _, _, _, digest, data in blobs])
    await database.run_many(_INSERT, [(content, place, k, digest) for content, k, place, digest, _ in blobs])


async def read(database: Database, digest: str, patience: float = 0.0) -> bytes | None:
    """A content with its blobs; `None` where it is not there. Raises `StoreCorrupt` if it is damaged."""
    rows = await database.rows(_DATA, (digest,), patience=patience)
    return unpack(rows[0][0], await database.rows(_PARTS, (digest,), patience=patience)) if rows else None


async def drop(database: Database, digests: Sequence[str]) -> None:
    """Delete contents, and their blobs that stand in no other."""
    named = json.dumps(digests)
    blobs = await database.column(_BLOBS, named)
    for statement in _DROP:
        await database.rows(statement, (named,))
    await database.rows(_DROP_BLOBS, (json.dumps(blobs),))
