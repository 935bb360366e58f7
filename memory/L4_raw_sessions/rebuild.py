"""The index made anew from what it is about: the zips, the histories, and the archive of live sessions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from memory.errors import StoreBusy, StoreCorrupt
from memory.L4_raw_sessions import texts
from memory.L4_raw_sessions.catchup import catch_up, forget_progress
from memory.L4_raw_sessions.files import lease
from memory.L4_raw_sessions.index import Index, put_aside
from memory.L4_raw_sessions.journal import Journal
from memory.L4_raw_sessions.places import Places, places_at
from memory.L4_raw_sessions.reconciling import reconcile


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilt:
    """What is in an index that was made anew."""

    members: int
    live: int
    """Sessions of which something is in no zip yet."""
    messages: int
    problems: tuple[str, ...]
    """What could not be read, and is left out."""


def rebuild_index(*, l4_dir: Path | str | None = None) -> Rebuilt:
    """Make the index anew. The journal stays if it can be read. Raises `StoreBusy` while a run is under way."""
    places = places_at(l4_dir)
    with held(places):
        index = _emptied(places)
        try:
            problems = reconcile(places, Journal(index))
            catch_up(places, index)
            texts.purge(index)
            counted = (
                "SELECT (SELECT count(*) FROM members), (SELECT count(*) FROM live), (SELECT count(*) FROM messages)"
            )
            ((members, live, messages),) = index.rows(counted)
        finally:
            index.close()
    return Rebuilt(members=members, live=live, messages=messages, problems=tuple(problems))


@contextmanager
def held(places: Places) -> Iterator[None]:
    """Keep runs from beginning while the block lasts. Raises `StoreBusy` where one is under way."""
    with lease(places.lock) as mine:
        if not mine:
            raise StoreBusy(f"{places.folder}: a run is under way; try again when it has ended")
        yield


def _emptied(places: Places) -> Index:
    try:
        return _emptied_in_place(places)
    except StoreCorrupt:
        _put_aside(places)
        return Index.open(places.index)


def _emptied_in_place(places: Places) -> Index:
    index = Index.open(places.index)
    try:
        with index.transaction():
            texts.clear(index)
            index.rows("DELETE FROM members")
            forget_progress(index)
    except BaseException:
        index.close()
        raise
    return index


def _put_aside(places: Places) -> None:
    numbered = (places.quarantine / f"{places.index.name}.{number}" for number in count(1))
    put_aside(places.index, next(path for path in numbered if not path.exists()))
