"""One session again: its log, its messages as an OpenAI client would send them, and the message that a pointer names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO, cast

from memory.errors import StoreMissing
from memory.L4_raw_sessions import texts
from memory.L4_raw_sessions.catchup import archived_keys, home
from memory.L4_raw_sessions.chat import as_chat, opening
from memory.L4_raw_sessions.exchanges import Conversations, Exchange, read_exchanges
from memory.L4_raw_sessions.index import Index, Row
from memory.L4_raw_sessions.lines import opened, read_lines
from memory.L4_raw_sessions.live import LiveSessions, log_of
from memory.L4_raw_sessions.places import Places, name_of, places_at
from memory.L4_raw_sessions.search import searched
from memory.L4_raw_sessions.sections import read_sections
from memory.L4_raw_sessions.tombstones import forgotten_messages

_POINTER = re.compile(r"(?:L4:)?([^\s#]+)#(\d{1,9})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A session, or what one zip holds of it."""

    session: str
    name: str | None
    """``YYYY-MM/NAME``; `None` for what is live."""
    zip: str | None
    member: str | None
    model: str | None
    started: float
    ended: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The message that a pointer names."""

    session: str
    name: str | None
    """``YYYY-MM/NAME`` where it is archived."""
    ordinal: int
    role: str
    time: float
    text: str


def read_session(name: str, year: int | str | None = None, *, l4_dir: Path | str | None = None) -> str:
    """The log of a session: by the name of its member, with the year where several have it, or by its id. Raises `StoreError`."""
    places = places_at(l4_dir)
    with searched(places) as index:
        if index is None or not (parts := find_parts(index, name, year)):
            raise StoreMissing(f"no session is called {name!r}; `memory search` finds them")
        if not all(part.session == name for part in parts):
            parts = parts[-1:]  # of several years or months, the last
        return "".join(_read(places, index, part) for part in parts)


def restore(session: str, *, l4_dir: Path | str | None = None) -> list[dict[str, Any]]:
    """The conversation as it stood after its last answer, as OpenAI messages, to go on with it. Raises `StoreError`."""
    places = places_at(l4_dir)
    with searched(places) as index:
        if index is None or not (parts := find_parts(index, session)):
            raise StoreMissing(f"no session is called {session!r}; `memory search` finds them")
        return conversation(places, index, parts)


def find_parts(index: Index, name: str, year: int | str | None = None) -> list[Part]:
    """The parts of a session, by its id, by ``YYYY-MM/NAME``, or by a member's name; the oldest first."""
    month, _, plain = name.rpartition("/")
    member = f"{plain.removesuffix('.txt')}.txt"
    sql = "SELECT session, zip, member, model, started, ended FROM members WHERE (session = ? OR (zip GLOB ? AND member = ?))"
    glob = f"{month}*.zip" if month else f"{year or ''}*.zip"
    rows = index.rows(f"{sql} ORDER BY started, id", (name, glob, member))
    live = "SELECT session, NULL, NULL, model, started, ended FROM live WHERE NOT stale AND session IN (?, ?)"
    return [_part(*row) for row in [*rows, *index.rows(live, (name, name.removeprefix("live/")))]]


def all_parts(index: Index) -> list[Part]:
    """The parts of all sessions, the oldest first."""
    sql = """SELECT session, zip, member, model, started, ended FROM members UNION ALL
      SELECT session, NULL, NULL, model, started, ended FROM live WHERE NOT stale ORDER BY started"""
    return [_part(*row) for row in index.rows(sql)]


def _part(session: str, zip_: str | None, member: str | None, model: str | None, started: float, ended: float) -> Part:
    name = name_of(zip_, member) if zip_ and member else None
    return Part(session=session, name=name, zip=zip_, member=member, model=model, started=started, ended=ended)


@contextmanager
def log(places: Places, index: Index, part: Part) -> Iterator[BinaryIO]:
    """A part's log as a file."""
    if part.zip and part.member:
        with opened(places, part.zip, part.member) as file:
            yield file
        return
    found = home(places)
    with ExitStack() as stack:
        live = stack.enter_context(LiveSessions.opened(*found)) if found else None
        file = cast("BinaryIO", stack.enter_context(TemporaryFile(dir=places.folder)))
        for piece in log_of(live, part.session, archived_keys(index, part.session)) if live else ():
            file.write(piece)
        file.seek(0)
        yield file


def _read(places: Places, index: Index, part: Part) -> str:
    with log(places, index, part) as file:
        return file.read().decode("utf-8", "replace")


def conversation(places: Places, index: Index, parts: list[Part]) -> list[dict[str, Any]]:
    """The messages that stand at the end of a session's parts."""
    known = Conversations()
    heads: dict[str, bytes] = {}
    last: list[bytes] | None = None
    head = b""
    free: list[dict[str, Any]] = []
    for part in parts:
        with log(places, index, part) as file:
            for exchange in read_exchanges(read_sections(file)):
                if exchange.id is not None:
                    last = _heard(known, exchange, last or [])
                    head = heads[exchange.head_name] = exchange.head or heads.get(exchange.head_name, b"")
            if last is None:
                file.seek(0)
                free += [{"role": line.role, "content": line.text} for line in read_lines(file)]
    return free if last is None else [*opening(head), *as_chat(json.loads(message) for message in last)]


def _heard(known: Conversations, exchange: Exchange, before: list[bytes]) -> list[bytes]:
    """The messages up to an exchange's answer. A client may go on from the answer as it was recorded."""
    asked = known.expand(exchange) or [*before, *exchange.messages]
    reply, name = exchange.response.get("message"), exchange.response.get("name")
    if not reply:
        return asked
    answer = json.dumps(reply).encode()
    tip = exchange.names[-1] if exchange.names else exchange.base
    if name:
        known.expand(replace(exchange, base=tip, names=(name,), messages=(answer,)))
    return [*asked, answer]


def resolve(pointer: str, *, l4_dir: Path | str | None = None) -> Told | None:
    """The message that ``L4:YYYY-MM/NAME#12`` or ``L4:SESSION#12`` names, archived since or not; `None` where it is gone."""
    match = _POINTER.fullmatch(pointer)
    if match is None:
        raise ValueError(f"{pointer!r} is no pointer: write L4:SESSION#MESSAGE")
    places = places_at(l4_dir)
    with searched(places) as index:
        return _resolve(places, index, match[1], int(match[2])) if index else None


def _resolve(places: Places, index: Index, name: str, ordinal: int) -> Told | None:
    sql = """SELECT messages.ordinal, messages.name, role, time, text, members.session, zip, member FROM messages
      JOIN members ON members.id = part WHERE {} ORDER BY started, members.id, messages.ordinal"""
    month, _, plain = name.partition("/")
    at = index.rows(
        sql.format("zip GLOB ? AND member = ? AND messages.ordinal = ?"), (f"{month}*.zip", f"{plain}.txt", ordinal)
    )
    if at:
        return _told(index, *at[0])
    # A session's messages are counted through all its parts, each once, those that were forgotten first.
    rows = index.rows(sql.format("members.session = ?"), (name,))
    distinct = list(_distinct(rows))
    at_zero = forgotten_messages(places, name) or 0
    if 0 <= ordinal - at_zero < len(distinct):
        return _told(index, *distinct[ordinal - at_zero])
    live = """SELECT ordinal, name, role, time, text, session, NULL, NULL FROM messages JOIN live ON live.id = -part
      WHERE session = ? AND ordinal = ? AND NOT stale"""
    rows = index.rows(live, (name, ordinal))
    return _told(index, *rows[0]) if rows else None


def _distinct(rows: list[Row]) -> Iterator[Row]:
    seen: set[str] = set()
    for row in rows:
        if row[1] is None or row[1] not in seen:
            yield row
        seen.add(row[1])


def _told(
    index: Index,
    ordinal: int,
    _: str | None,
    role: str,
    time: float,
    text: int,
    session: str,
    zip_: str | None,
    member: str | None,
) -> Told:
    name = name_of(zip_, member) if zip_ and member else None
    words = texts.text_of(index, text)
    return Told(session=session, name=name, ordinal=ordinal, role=role, time=time, text=words)
