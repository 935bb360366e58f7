"""The part of `index.sqlite` that is searched: each text once, with its words; which messages of which session say it.

    live (a session, or what of it is in no zip yet) ─┐
    members (see `index`) ────────────────────────────┴─parts─1:n→ messages ─n:1→ texts ─1:1→ words

All of it can be made anew, the messages of members from their zips, live ones from the archive.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from memory.L4_raw_sessions.index import Index
from memory.L4_raw_sessions.tokens import spread

COUNTED = 1_000_000
"""Characters of one text whose words count, half at its beginning and half at its end."""

_LEVEL = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One message as it can be searched."""

    ordinal: int
    """Its place in its part."""
    name: str | None
    """Its hash, where it has one: the same before and after it is archived."""
    role: str
    time: float
    text: str


def put(index: Index, part: int, lines: Iterable[Line]) -> None:
    """Add messages to a part, inside a transaction of the caller."""
    for line in lines:
        row = (part, line.ordinal, line.name, line.role, line.time, _text(index, line.text))
        index.rows("INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?)", row)


def drop_orphans(index: Index) -> None:
    """Take out those texts that no message says any more, inside a transaction of the caller."""
    for (text,) in index.rows("SELECT id FROM texts WHERE NOT EXISTS (SELECT 1 FROM messages WHERE text = texts.id)"):
        _drop_text(index, text)


def text_of(index: Index, id_: int) -> str:
    """One text."""
    ((data,),) = index.rows("SELECT data FROM texts WHERE id = ?", (id_,))
    return zlib.decompress(data).decode()


def purge(index: Index) -> None:
    """Leave nothing of what was dropped in the file or its log."""
    index.rows("INSERT INTO words (words) VALUES ('optimize')")
    index.rows("PRAGMA incremental_vacuum")
    index.rows("PRAGMA wal_checkpoint(TRUNCATE)")


def clear(index: Index) -> None:
    """Take all messages and texts out, inside a transaction of the caller."""
    index.rows("INSERT INTO words (words) VALUES ('delete-all')")
    for table in ("messages", "texts", "live"):
        index.rows(f"DELETE FROM {table}")


def _text(index: Index, text: str) -> int:
    data = text.encode("utf-8", "replace")
    digest = blake2b(data, digest_size=16).digest()
    known = index.rows("SELECT id FROM texts WHERE digest = ?", (digest,))
    if known:
        return int(known[0][0])
    sql = "INSERT INTO texts (digest, data) VALUES (?, ?) RETURNING id"
    ((id_,),) = index.rows(sql, (digest, zlib.compress(data, _LEVEL)))
    index.rows("INSERT INTO words (rowid, text) VALUES (?, ?)", (id_, _words(data.decode())))
    return int(id_)


def _drop_text(index: Index, id_: int) -> None:
    words = _words(text_of(index, id_))
    index.rows("INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)", (id_, words))
    index.rows("DELETE FROM texts WHERE id = ?", (id_,))


def _words(text: str) -> str:
    if len(text) > COUNTED:
        text = f"{text[: COUNTED // 2]} {text[-COUNTED // 2 :]}"
    return spread(text)


def names_of(index: Index, part: int) -> Sequence[str | None]:
    """The hashes of a part's messages, in order."""
    return [name for (name,) in index.rows("SELECT name FROM messages WHERE part = ? ORDER BY ordinal", (part,))]
