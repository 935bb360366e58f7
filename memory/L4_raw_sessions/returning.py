"""A session that was forgotten and is there again, its log put back from a copy: pointers lead to its messages as before."""

from __future__ import annotations

from pathlib import Path

from memory.L4_raw_sessions.catchup import home, is_recorded
from memory.L4_raw_sessions.index import Index
from memory.L4_raw_sessions.live import LiveSessions
from memory.L4_raw_sessions.places import Places, places_at
from memory.L4_raw_sessions.reading import find_parts
from memory.L4_raw_sessions.search import searched
from memory.L4_raw_sessions.tombstones import forgotten_messages, write_tombstone
from memory.L4_raw_sessions.waiting import in_archive, wait_for
from memory.L4_raw_sessions.zipped import read_held

_MEMBERS = "SELECT zip, member, sha256 FROM members WHERE session = ?"

_NAMES = """SELECT messages.name FROM messages JOIN members ON members.id = part WHERE session = ?1
  UNION ALL SELECT messages.name FROM messages JOIN live ON live.id = -part WHERE session = ?1 AND NOT stale"""


def take_back(session: str, *, l4_dir: Path | str | None = None) -> str | None:
    """Take note that a session, given by its id or ``YYYY-MM/NAME``, is whole again; its id, or `None` where it is not.

    Raises `StoreError`.
    """
    places = places_at(l4_dir)
    with searched(places) as index:
        parts = find_parts(index, session) if index else []
        if index is None or not parts or not (lost := forgotten_messages(places, parts[0].session)):
            return None
        id_ = parts[0].session
        if not _is_whole(places, index, id_, lost):
            return None
        if (found := home(places)) and is_recorded(places):
            held: dict[str, str] = {}
            for zip_, member, sha256 in index.rows(_MEMBERS, (id_,)):
                held |= read_held(places, zip_, member, sha256) or {}
            wait_for(lambda: in_archive(found[0], lambda archive: archive.take_back(id_, held)))
        write_tombstone(places, id_, 0)
        return id_


def _is_whole(places: Places, index: Index, session: str, lost: int) -> bool:
    """All that the archive of exchanges ever heard in it can be read; where it heard nothing, as many as were lost."""
    names = [name for (name,) in index.rows(_NAMES, (session,))]
    if found := home(places):
        with LiveSessions.opened(*found) as live:
            if live and (heard := {one.name for one in live.messages(session)}):
                return heard <= set(names)
    return len({name or at for at, name in enumerate(names)}) >= lost
