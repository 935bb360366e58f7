"""A session message by message, each with its pointer, and a list of all sessions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from memory.errors import StoreMissing
from memory.L4_raw_sessions.index import Index
from memory.L4_raw_sessions.places import name_of, places_at
from memory.L4_raw_sessions.reading import Part, Told, all_parts, find_parts
from memory.L4_raw_sessions.search import searched
from memory.L4_raw_sessions.texts import text_of

_SAID = """SELECT messages.ordinal, messages.name, role, time, text, zip, member FROM messages
    JOIN members ON members.id = part WHERE session = ?1
  UNION ALL SELECT messages.ordinal, messages.name, role, time, text, NULL, NULL FROM messages
    JOIN live ON live.id = -part WHERE session = ?1 AND NOT stale ORDER BY time, ordinal"""


def tell(session: str, *, l4_dir: Path | str | None = None) -> tuple[list[Part], list[Told]]:
    """The parts of a session, given by its id or by ``YYYY-MM/NAME``, and what was said in them. Raises `StoreError`."""
    with searched(places_at(l4_dir)) as index:
        if index is None or not (parts := find_parts(index, session)):
            raise StoreMissing(f"no session is called {session!r}; `memory search` finds them")
        return parts, list(_tell(index, parts))


def sessions(*, l4_dir: Path | str | None = None) -> list[Part]:
    """The parts of all sessions, the oldest first."""
    with searched(places_at(l4_dir)) as index:
        return all_parts(index) if index else []


def _tell(index: Index, parts: list[Part]) -> Iterator[Told]:
    session, wanted = parts[0].session, {part.name for part in parts}
    seen: set[str] = set()
    for ordinal, hash_, role, time, text, zip_, member in index.rows(_SAID, (session,)):
        name = name_of(zip_, member) if zip_ else None
        if name in wanted and hash_ not in seen:
            words = text_of(index, text)
            yield Told(session=session, name=name, ordinal=ordinal, role=role, time=time, text=words)
        if hash_ is not None:
            seen.add(hash_)
