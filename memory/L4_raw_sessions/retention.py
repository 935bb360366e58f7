"""How long sessions are kept: by default for ever, else so many days, or as many as have room, the oldest going first.

Looked at before it is done; what goes is said. A run that was cut off is made good by the next.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby

from memory.archive import Archive
from memory.L4_raw_sessions import texts, zips
from memory.L4_raw_sessions.catchup import home, is_recorded
from memory.L4_raw_sessions.index import Index
from memory.L4_raw_sessions.places import Places, name_of
from memory.L4_raw_sessions.rebuild import held
from memory.L4_raw_sessions.rewriting import blank_blocks, rewrite_zip
from memory.L4_raw_sessions.search import searched
from memory.L4_raw_sessions.waiting import in_archive, wait_for

DAY = 86_400.0

_ON = """SELECT session FROM members WHERE id NOT IN (SELECT value FROM json_each(?))
  UNION SELECT session FROM live"""

_RAW = """SELECT raw_sha256 FROM members WHERE id IN (SELECT value FROM json_each(?1))
  EXCEPT SELECT raw_sha256 FROM members WHERE id NOT IN (SELECT value FROM json_each(?1))"""

_LOST = """SELECT name FROM messages JOIN members ON members.id = part
    WHERE id IN (SELECT value FROM json_each(?1)) AND session = ?2 AND name IS NOT NULL
  EXCEPT SELECT name FROM messages JOIN members ON members.id = part
    WHERE id NOT IN (SELECT value FROM json_each(?1)) AND session = ?2"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expired:
    """A session, or a part of one, that is kept no longer."""

    session: str
    name: str
    """``YYYY-MM/MMDD_HHMM-MMDD_HHMM``."""
    ended: float
    size: int
    """Bytes in its zip."""


@dataclass(frozen=True, slots=True)
class _Member:
    id: int
    zip: str
    member: str
    session: str
    ended: float
    at: int
    size: int
    packed: int


def retain(
    places: Places, now: float, *, days: float | None = None, size: int | None = None, dry_run: bool = True
) -> tuple[Expired, ...]:
    """Let go of sessions that ended more than so many days ago, and of the oldest until the zips have that size.

    With `dry_run` it is only said which. Raises `StoreError`, `StoreBusy`, and `ValueError` for less than nothing.
    """
    if min(days or 0, size or 0) < 0:
        raise ValueError("days and size must be 0 or more")
    with searched(places) as index:
        if index is None or (days is None and size is None):
            return ()
        if dry_run:
            gone = _choose(_members(places, index), now, days, size)
        else:
            with held(places):
                gone = _choose(_members(places, index), now, days, size)
                _let_go(places, index, gone)
    return tuple(
        Expired(session=one.session, name=name_of(one.zip, one.member), ended=one.ended, size=one.packed)
        for one in gone
    )


def _members(places: Places, index: Index) -> list[_Member]:
    """All of them, the oldest first."""
    packed = {(path.name, name): n for path in places.zips() for name, n in zips.packed_sizes(path).items()}
    sql = """SELECT id, zip, member, session, ended, coalesce(history_at, 0), coalesce(history_size, 0) FROM members
      ORDER BY ended, id"""
    rows = index.rows(sql)
    return [_Member(*(*row, packed.get((row[1], row[2]), 0))) for row in rows]


def _choose(members: Sequence[_Member], now: float, days: float | None, size: int | None) -> list[_Member]:
    oldest = float("-inf") if days is None else now - days * DAY
    over = 0 if size is None else sum(one.packed for one in members) - size
    gone = []
    for one in members:
        if one.ended < oldest or over > 0:
            gone.append(one)
            over -= one.packed
    return gone


def _let_go(places: Places, index: Index, gone: Sequence[_Member]) -> None:
    """The index last: until then it tells what is still to be done."""
    for name, group in groupby(sorted(gone, key=lambda one: one.zip), key=lambda one: one.zip):
        path = places.folder / name
        present = zips.facts_of(path) if path.exists() else {}
        if members := [one.member for one in group if one.member in present]:
            rewrite_zip(path, dict.fromkeys(members))
    blank_blocks(places.histories, ((one.at, one.size) for one in gone if one.size))
    _forget_live(places, index, gone)
    _forget_trash(places, index, gone)
    with index.transaction():
        index.run_many("DELETE FROM members WHERE id = ?", [(one.id,) for one in gone])
        texts.drop_orphans(index)
    texts.purge(index)


def _forget_trash(places: Places, index: Index, gone: Sequence[_Member]) -> None:
    """The logs that they were made of, if they are still kept for a while: nothing would be left to compare them with."""
    ids = json.dumps([one.id for one in gone])
    made_of = {sha256 for (sha256,) in index.rows(_RAW, (ids,))}
    for path in [path for path in places.trash.rglob("*") if path.is_file()]:
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        if sha256 in made_of:
            path.unlink()
            with suppress(OSError):  # something stays in it
                path.parent.rmdir()


def _forget_live(places: Places, index: Index, gone: Sequence[_Member]) -> None:
    """What the archive of exchanges holds of sessions that are over; of those that go on, what stood in these zips only."""
    found = home(places)
    if found is None or not is_recorded(places) or not gone:
        return
    data, tenant = found
    ids = json.dumps([one.id for one in gone])
    on = {session for (session,) in index.rows(_ON, (ids,))}
    lost = {one.session: [name for (name,) in index.rows(_LOST, (ids, one.session))] for one in gone}

    async def forget(archive: Archive) -> None:
        for session, names in lost.items():
            await (archive.forget_lost(session, names) if session in on else archive.forget(session, tenant))

    wait_for(lambda: in_archive(data, forget))
