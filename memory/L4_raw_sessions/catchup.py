"""Keeps what is searched up to date: members that were archived, and sessions that are under way.

members without messages ─zip→ lines        sessions with new exchanges ─archive.sqlite→ lines
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote

from memory.errors import StoreError
from memory.L4_raw_sessions.index import Index
from memory.L4_raw_sessions.lines import opened, read_lines
from memory.L4_raw_sessions.live import FILE, LiveSessions, Spoken
from memory.L4_raw_sessions.places import Places
from memory.L4_raw_sessions.said import said
from memory.L4_raw_sessions.texts import Line, names_of, put
from memory.roots import FIRST, OTHERS

_CURSOR = "searched exchanges"
_UNREAD = "unread member "

_MISSING = f"""SELECT id, zip, member, session FROM members WHERE NOT EXISTS (SELECT 1 FROM messages WHERE part = members.id)
  AND NOT EXISTS (SELECT 1 FROM facts WHERE name = '{_UNREAD}' || members.id)"""

_STALE = "INSERT INTO live (session, started, ended, stale) VALUES (?, 0, 0, 1) ON CONFLICT (session) DO UPDATE SET stale = 1"


def catch_up(places: Places, index: Index) -> int:
    """Index what came since the last time; how many members and sessions that were."""
    return add_members(places, index) + _add_live(places, index)


def forget_progress(index: Index) -> None:
    """Have the next `catch_up` read everything again. Call it inside a transaction."""
    index.rows("DELETE FROM facts WHERE name = ? OR substr(name, 1, ?) = ?", (_CURSOR, len(_UNREAD), _UNREAD))


def home(places: Places) -> tuple[Path, str] | None:
    """The data folder that an archive belongs to, and its tenant; `None` where nothing was ever recorded for one."""
    root = places.folder.absolute().parents[1]
    if root.parent.name == OTHERS:
        return root.parents[1], unquote(root.name)
    try:
        return root, (root / FIRST).read_text(encoding="utf-8")
    except FileNotFoundError:
        return None


def is_recorded(places: Places) -> bool:
    """Whether exchanges of this archive's tenant were ever recorded in `archive.sqlite`."""
    found = home(places)
    return found is not None and (found[0] / FILE).exists()


def archived_keys(index: Index, session: str) -> frozenset[str]:
    """The exchanges of a session that can be read from zips, by the keys that they have in logs."""
    sql = """SELECT key FROM exchanges JOIN members ON members.id = exchanges.member WHERE session = ?
      AND NOT EXISTS (SELECT 1 FROM facts WHERE name = ? || members.id)"""
    return frozenset(key for (key,) in index.rows(sql, (session, _UNREAD)))


def add_members(places: Places, index: Index) -> int:
    """Index those members that are not; in the place of one that cannot be read the archive speaks, if it still can."""
    missing = index.rows(_MISSING)
    for id_, zip_, member, session in missing:
        try:
            with opened(places, zip_, member) as file:
                add_member(index, id_, session, file)
        except StoreError:
            if not _is_damaged(places, zip_, member):
                raise
            with index.transaction():
                index.rows("INSERT INTO facts VALUES (?, '') ON CONFLICT DO NOTHING", (f"{_UNREAD}{id_}",))
                index.rows(_STALE, (session,))
    return len(missing)


def add_member(index: Index, id_: int, session: str, file: BinaryIO) -> None:
    """Index a member whose text is in a file."""
    with index.transaction():
        if index.rows(f"{_MISSING} AND id = ?", (id_,)):
            put(index, id_, read_lines(file))
            index.rows(_STALE, (session,))


def _is_damaged(places: Places, zip_: str, member: str) -> bool:
    try:
        with opened(places, zip_, member):
            return False
    except StoreError:
        return True


def _add_live(places: Places, index: Index) -> int:
    found = home(places)
    if found is None:
        return 0
    with LiveSessions.opened(*found) as live:
        return _renew_changed(index, live) if live else 0


def _renew_changed(index: Index, live: LiveSessions) -> int:
    last = live.last()
    rows = index.rows("SELECT value FROM facts WHERE name = ?", (_CURSOR,))
    cursor = int(rows[0][0]) if rows else 0
    stale = [session for (session,) in index.rows("SELECT session FROM live WHERE stale")]
    # An archive that was put back from a copy has fewer exchanges than there were.
    sessions = dict.fromkeys([*stale, *(live.changed(cursor if cursor <= last else 0) if last != cursor else ())])
    for session in sessions:
        with index.transaction():
            _renew(index, live, session)
    if last != cursor:
        with index.transaction():
            index.rows("INSERT OR REPLACE INTO facts VALUES (?, ?)", (_CURSOR, str(last)))
    return len(sessions)


def _renew(index: Index, live: LiveSessions, session: str) -> None:
    """Make the live part of a session what the archive tells and no zip holds."""
    spoken = list(_unarchived(index, session, live.messages(session)))
    rows = index.rows("SELECT id, stale FROM live WHERE session = ?", (session,))
    known = names_of(index, -rows[0][0]) if rows and not rows[0][1] else []
    if rows and (not spoken or not known or known != [one.name for _, one in spoken[: len(known)]]):
        known = []
        index.rows("DELETE FROM messages WHERE part = ?", (-rows[0][0],))
        index.rows("DELETE FROM live WHERE session = ?", (session,))
    if spoken:
        put(index, -_live_id(index, session, [one for _, one in spoken]), _lines(live, spoken[len(known) :]))


def _unarchived(index: Index, session: str, spoken: Iterable[Spoken]) -> Iterator[tuple[int, Spoken]]:
    """Messages with their numbers in the whole session."""
    sql = "SELECT DISTINCT name FROM messages JOIN members ON part = members.id WHERE session = ? AND name IS NOT NULL"
    names = {name for (name,) in index.rows(sql, (session,))}
    archived = archived_keys(index, session)
    for number, one in enumerate(spoken):
        if one.content and one.name not in names and one.exchange not in archived:
            yield number, one


def _live_id(index: Index, session: str, spoken: list[Spoken]) -> int:
    sql = """INSERT INTO live (session, model, started, ended, stale) VALUES (?, ?, ?, ?, 0)
      ON CONFLICT (session) DO UPDATE SET model = excluded.model, ended = excluded.ended, history = NULL
      RETURNING id"""
    model, started, ended = spoken[-1].model, spoken[0].time, max(one.time for one in spoken)
    ((id_,),) = index.rows(sql, (session, model, started, ended))
    return int(id_)


def _lines(live: LiveSessions, spoken: list[tuple[int, Spoken]]) -> Iterator[Line]:
    for number, one in spoken:
        words = said(live.content(one.content))
        yield Line(ordinal=number, name=one.name, role=words.role, time=one.time, text=words.text)
