"""What stands in a verified zip goes out of `archive.sqlite`, which is the truth only until then.

    member read back once more ─let go→ contents dropped ─mark→ emptied ─reclaim→ a smaller file

Cut off anywhere, a content is in both, and the next run does it.
"""

from __future__ import annotations

from contextlib import closing
from functools import partial

from memory.archive import Archive
from memory.L4_raw_sessions.catchup import add_members, home, is_recorded
from memory.L4_raw_sessions.index import Index
from memory.L4_raw_sessions.places import Places
from memory.L4_raw_sessions.waiting import in_archive, wait_for
from memory.L4_raw_sessions.zipped import read_held

_FULL = "SELECT id, zip, member, session, sha256 FROM members WHERE NOT emptied ORDER BY id"

_HELD = "SELECT 1 FROM members JOIN messages ON part = members.id WHERE session = ? AND messages.name = ? LIMIT 1"


def empty(places: Places, index: Index) -> int:
    """Let go of what the verified members hold; how many contents that were. Raises `StoreError`, and can be asked again."""
    found = home(places)
    if found is None or not is_recorded(places) or not index.rows(f"{_FULL} LIMIT 1"):
        return 0
    return wait_for(lambda: in_archive(found[0], partial(_empty, places)))


async def _empty(places: Places, archive: Archive) -> int:
    dropped = 0
    with closing(Index.open(places.index)) as index:
        add_members(places, index)  # who holds what is looked up by the messages that can be searched
        for id_, zip_, member, session, sha256 in index.rows(_FULL):
            held = read_held(places, zip_, member, sha256)
            if held is None:
                continue
            dropped += await archive.let_go(session, held, partial(_is_held, index))
            index.rows("UPDATE members SET emptied = 1 WHERE id = ?", (id_,))
    await archive.reclaim()
    return dropped


def _is_held(index: Index, session: str, message: str) -> bool:
    return bool(index.rows(_HELD, (session, message)))
