"""One search over live and archived sessions: by words, ranked, the newer a little before the older."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory.errors import StoreBusy, StoreCorrupt, StoreError
from memory.L4_raw_sessions.catchup import catch_up, is_recorded
from memory.L4_raw_sessions.files import make_folder
from memory.L4_raw_sessions.index import Index
from memory.L4_raw_sessions.places import Places, name_of, places_at
from memory.L4_raw_sessions.rebuild import rebuild_index
from memory.L4_raw_sessions.snippets import snippet
from memory.L4_raw_sessions.texts import text_of
from memory.L4_raw_sessions.tokens import estimate, query

LIMIT = 10

RANKED = 2000
"""Texts that are ranked, the newest: a word that stands in more of them tells little. With conditions all are."""

RECENCY = 0.25
"""How much more the newest message counts than one that is very old."""

HALF_LIFE_DAYS = 30.0
"""After so many days half of that is left."""

Moment = float | str | datetime
"""Seconds since the epoch, an ISO date or time (UTC where no zone is said), or a `datetime`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which messages may answer."""

    since: float | None = None
    until: float | None = None
    role: str | None = None
    model: str | None = None
    session: str | None = None
    """An id, or ``YYYY-MM/NAME``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A session in which the words stand, and the message that answers best."""

    session: str
    name: str | None
    """``YYYY-MM/NAME`` where that message is archived."""
    pointer: str
    """Names the message: ``L4:YYYY-MM/NAME#12``, or ``L4:SESSION#12`` while it is live."""
    role: str
    time: float
    model: str | None
    started: float
    ended: float
    matches: int
    """Messages of the session that hold the words, of those that were ranked."""
    score: float
    snippet: str
    tokens: int
    """What reading the whole message would cost, about."""


def search_sessions(
    words: str,
    *,
    limit: int = LIMIT,
    since: Moment | None = None,
    until: Moment | None = None,
    role: str | None = None,
    model: str | None = None,
    session: str | None = None,
    l4_dir: Path | str | None = None,
) -> list[Found]:
    """Sessions with a message that holds all of the words; strings without blanks stand there in one piece."""
    wanted = Wanted(since=moment(since), until=moment(until), role=role, model=model, session=session)
    places = places_at(l4_dir)
    try:
        with searched(places) as index:
            return find(index, words, wanted, limit) if index else []
    except StoreCorrupt:
        rebuild_index(l4_dir=places.folder)
        with searched(places) as index:
            return find(index, words, wanted, limit) if index else []


def find(index: Index, words: str, wanted: Wanted, limit: int) -> list[Found]:
    """The same, in an index that is up to date."""
    asked = query(words)
    if not asked:
        return []
    where, values = conditions(wanted)
    ranked = -1 if where else RANKED
    rows = index.rows(_FIND.format(where=where), (asked, ranked, *values, limit))
    return [_found(index, words, row) for row in rows]


def conditions(wanted: Wanted) -> tuple[str, list[object]]:
    """What is wanted, in SQL over `messages`, `members` and `live`, with its values."""
    month, _, name = (wanted.session or "").partition("/")
    tests: list[tuple[str, object, tuple[object, ...]]] = [
        ("messages.time >= ?", wanted.since, ()),
        ("messages.time <= ?", wanted.until, ()),
        ("messages.role = ?", wanted.role, ()),
        ("coalesce(members.model, live.model) = ?", wanted.model, ()),
        (_OF_SESSION, wanted.session, (f"{month}*.zip", f"{name}.txt")),
    ]
    given = [(sql, (value, *more)) for sql, value, more in tests if value is not None]
    return "".join(f" AND {sql}" for sql, _ in given), [value for _, values in given for value in values]


_OF_SESSION = "(coalesce(members.session, live.session) = ? OR (zip GLOB ? AND member = ?))"

_FIND = f"""WITH hits AS MATERIALIZED (
    SELECT rowid AS id, -rank AS rank FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?),
  newest AS MATERIALIZED (SELECT max((SELECT coalesce(max(ended), 0) FROM members), (SELECT coalesce(max(ended), 0) FROM live)) AS at),
  ranked AS (SELECT messages.*, members.zip, members.member, coalesce(members.session, live.session) AS session,
    coalesce(members.model, live.model) AS model, coalesce(members.started, live.started) AS started,
    coalesce(members.ended, live.ended) AS ended,
    rank * (1 + {RECENCY} / (1 + abs(newest.at - messages.time) / {86400 * HALF_LIFE_DAYS})) AS score
    FROM hits CROSS JOIN messages ON messages.text = hits.id CROSS JOIN newest
    LEFT JOIN members ON members.id = messages.part LEFT JOIN live ON live.id = -messages.part
    WHERE true {{where}})
  SELECT session, zip, member, ordinal, role, time, model, min(started), max(ended), count(DISTINCT text), max(score), text
  FROM ranked GROUP BY session ORDER BY max(score) DESC, session LIMIT ?"""


def _found(index: Index, words: str, row: tuple[Any, ...]) -> Found:
    session, zip_, member, ordinal, role, time, model, started, ended, matches, score, id_ = row
    text = text_of(index, id_)
    name = name_of(zip_, member) if zip_ else None
    return Found(
        session=session,
        name=name,
        pointer=f"L4:{name or session}#{ordinal}",
        role=role,
        time=time,
        model=model,
        started=started,
        ended=ended,
        matches=matches,
        score=score,
        snippet=snippet(text, words),
        tokens=estimate(text),
    )


def moment(value: Moment | None) -> float | None:
    """Seconds since the epoch. Raises `ValueError` for what is no date."""
    if value is None or isinstance(value, int | float):
        return value
    time = datetime.fromisoformat(value) if isinstance(value, str) else value
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()


@contextmanager
def searched(places: Places) -> Iterator[Index | None]:
    """The index, brought up to date where it can be written; `None` where nothing is archived or recorded."""
    index = _opened(places)
    try:
        yield index
    finally:
        if index:
            index.close()


def _opened(places: Places) -> Index | None:
    if not places.folder.is_dir():
        if not is_recorded(places):
            return None
        make_folder(places.folder)
    if not places.index.exists() and places.zips():
        rebuild_index(l4_dir=places.folder)
    try:
        return _caught_up(places)
    except StoreCorrupt:
        rebuild_index(l4_dir=places.folder)
        return _caught_up(places)


def _caught_up(places: Places) -> Index | None:
    try:
        index = Index.open(places.index)
    except StoreCorrupt:
        raise
    except StoreError:  # it cannot be written here
        return Index.open_reader(places.index)
    try:
        catch_up(places, index)
    except StoreBusy:  # a run is under way; what it adds is found the next time
        return index
    except BaseException:
        index.close()
        raise
    return index
