"""Sessions as `archive.sqlite` holds them until they are archived: exchange by exchange, a message at its first place."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Container, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from memory.db import Row, translated
from memory.L4_raw_sessions.sections import put
from memory.rows import unpack

FILE = "archive.sqlite"

_MESSAGE = "SELECT parent, digest FROM messages LEFT JOIN contents ON digest = content WHERE hash = ?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """One message."""

    exchange: str
    """Which brought it, by the key that it has in logs."""
    model: str | None
    name: str
    time: float
    content: str
    """Its digest; "" where it was forgotten, or stands in a zip only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveExchange:
    """One request and its reply."""

    id: str
    key: str
    """Its name in logs."""
    started: float
    ended: float
    model: str | None
    base: str | None
    """Name of the message that the first new one follows."""
    messages: tuple[Spoken, ...]
    """Those that are new in it."""
    reply: Spoken | None
    head: str
    """Digest of the request without its messages; "" where there is none."""


class LiveSessions:
    """A tenant's sessions in the archive of a data folder. It waits where it is asked."""

    def __init__(self, path: Path, tenant: str, connection: sqlite3.Connection) -> None:
        self._path = path
        self._tenant = tenant
        self._connection = connection

    @classmethod
    @contextmanager
    def opened(cls, data: Path, tenant: str) -> Iterator[LiveSessions | None]:
        """A look at the archive; `None` where there is none."""
        path = data / FILE
        if not path.exists():
            yield None
            return
        with translated(path):
            connection = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None, timeout=5
            )
        with closing(connection):
            yield cls(path, tenant, connection)

    def last(self) -> int:
        """The number of the exchange that was recorded last, of any tenant."""
        return int(self._rows("SELECT coalesce(max(rowid), 0) FROM exchanges")[0][0])

    def changed(self, after: int) -> list[str]:
        """Sessions with exchanges behind that number."""
        sql = "SELECT DISTINCT session FROM exchanges WHERE rowid > ? AND tenant = ? AND tip IS NOT NULL"
        return [session for (session,) in self._rows(sql, after, self._tenant)]

    def exchanges(self, session: str) -> Iterator[LiveExchange]:
        """The exchanges of a session, each message in the first that brought it."""
        sql = """SELECT id, started, ended, model, tip, reply, head FROM exchanges
          WHERE session = ? AND tenant = ? AND tip IS NOT NULL ORDER BY rowid"""
        seen: set[str] = set()
        for id_, started, ended, model, tip, reply, head in self._rows(sql, session, self._tenant):
            base, above = self._above(tip, seen)
            key = f"{id_}@{started!r}"
            said = [Spoken(exchange=key, model=model, name=n, time=started, content=c) for n, c in above]
            answer = [(n, c) for n, c in self._above(reply, seen)[1] if n == reply]
            replies = [Spoken(exchange=key, model=model, name=n, time=ended, content=c) for n, c in answer]
            yield LiveExchange(
                id=id_,
                key=key,
                started=started,
                ended=ended,
                model=model,
                base=base if said else tip,
                messages=tuple(said),
                reply=replies[0] if replies else None,
                head=head or "",
            )

    def messages(self, session: str) -> Iterator[Spoken]:
        """All that was said in a session, each message once."""
        for exchange in self.exchanges(session):
            yield from exchange.messages
            if exchange.reply:
                yield exchange.reply

    def _above(self, tip: str | None, seen: set[str]) -> tuple[str | None, list[tuple[str, str]]]:
        """Messages up from this one to those that were seen, in order, and the one above them."""
        out: list[tuple[str, str]] = []
        while tip is not None and tip not in seen:
            rows = self._rows(_MESSAGE, tip)
            if not rows:
                break
            seen.add(tip)
            ((parent, content),) = rows
            out.append((tip, content or ""))
            tip = parent
        return tip, out[::-1]

    def content(self, digest: str) -> bytes:
        """A message as JSON, redacted; b"" if it was forgotten."""
        rows = self._rows("SELECT data FROM contents WHERE digest = ?", digest) if digest else []
        if not rows:
            return b""
        sql = "SELECT place, data FROM inserts JOIN blobs ON digest = blob WHERE content = ? ORDER BY ordinal"
        return unpack(rows[0][0], self._rows(sql, digest))

    def _rows(self, sql: str, *values: object) -> list[Row]:
        with translated(self._path):
            return self._connection.execute(sql, values).fetchall()


def log_of(live: LiveSessions, session: str, archived: Container[str]) -> Iterator[bytes]:
    """Those exchanges of a session that are not archived, in the form of a raw log, piece by piece."""
    told_heads: set[str] = set()
    for exchange in live.exchanges(session):
        if exchange.key in archived:
            continue
        said = [one for one in exchange.messages if one.content]
        names = [one.name for one in said]
        facts = {"session": session, "base": exchange.base, "names": names, "head_name": exchange.head}
        messages = b", ".join(_line(live.content(one.content)) for one in said)
        head = b"" if exchange.head in told_heads else _line(live.content(exchange.head))
        told_heads.add(exchange.head)
        more = b', "head": ' + head if head else b""
        body = json.dumps(facts).encode()[:-1] + b', "messages": [' + messages + b"]" + more + b"}"
        at = repr(exchange.started)
        yield put("Prompt", exchange.started, body, at=at, id=exchange.id, session=session)
        reply = exchange.reply
        told = json.dumps({"ended": exchange.ended, "name": reply.name if reply else None}).encode()[:-1]
        answer = _line(live.content(reply.content)) if reply and reply.content else b"null"
        body = told + b', "message": ' + answer + b"}"
        yield put("Response", exchange.ended, body, model=exchange.model or "-", id=exchange.id)


def _line(content: bytes) -> bytes:
    """JSON on one line; in a string line breaks are escaped."""
    return content.replace(b"\n", b" ").replace(b"\r", b" ")
