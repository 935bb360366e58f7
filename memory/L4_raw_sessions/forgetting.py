"""Taking a session out of everything that is stored of it: archive, raw logs, trash, zips, histories, index."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from memory.errors import StoreError
from memory.L4_raw_sessions import texts
from memory.L4_raw_sessions.catchup import home, is_recorded
from memory.L4_raw_sessions.exchanges import read_exchanges
from memory.L4_raw_sessions.histories import read_blocks
from memory.L4_raw_sessions.index import Index
from memory.L4_raw_sessions.journal import Journal
from memory.L4_raw_sessions.live import LiveSessions
from memory.L4_raw_sessions.places import Places, name_of, places_at
from memory.L4_raw_sessions.reading import all_parts, find_parts
from memory.L4_raw_sessions.rebuild import held
from memory.L4_raw_sessions.reconciling import reconcile
from memory.L4_raw_sessions.rewriting import blank_blocks, rewrite_zip
from memory.L4_raw_sessions.search import searched
from memory.L4_raw_sessions.sections import read_sections
from memory.L4_raw_sessions.tombstones import forgotten_messages, write_tombstone
from memory.L4_raw_sessions.waiting import in_archive, take_in, wait_for
from memory.L4_raw_sessions.zips import BROKEN, facts_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What was taken out."""

    session: str
    """Its id."""
    names: tuple[str, ...]
    """``YYYY-MM/NAME`` of its members."""
    rows: int
    """Rows of the archive that were emptied."""
    raw: int
    """Raw logs that were deleted, in the trash, too."""
    problems: tuple[str, ...]
    """What could not be looked into; to be removed by hand, should it hold the session."""


def forget(session: str, *, l4_dir: Path | str | None = None) -> Forgotten:
    """Forget a session, by its id or by ``YYYY-MM/NAME``. Cut off, it is to be called again. Raises `StoreError`."""
    places = places_at(l4_dir)
    waiting = take_in(places)
    with searched(places) as index, held(places):
        if index is None:
            raise StoreError(f"{places.folder}: nothing is archived or recorded here")
        parts = find_parts(index, session)
        return _forget(places, index, parts[0].session if parts else session, waiting)


def forget_all(*, l4_dir: Path | str | None = None) -> list[Forgotten]:
    """Forget all sessions of the tenant whose archive this is."""
    places = places_at(l4_dir)
    waiting = take_in(places)
    with searched(places) as index, held(places):
        ids = dict.fromkeys(part.session for part in all_parts(index)) if index else {}
        return [_forget(places, index, session, waiting) for session in ids] if index else []


def _forget(places: Places, index: Index, session: str, waiting: Sequence[str]) -> Forgotten:
    """The index last: until then it tells what is still to be done."""
    problems = [*waiting]
    told = _count(places, index, session)
    if told:  # before anything is gone: who is cut off and asks again has less to count
        write_tombstone(places, session, told)
    rows = _forget_live(places, session)
    raw = sum(_forget_raw(path, session, problems) for path in raw_logs(places))
    members = _forget_members(places, index, session, problems)
    ours = [one for one in read_blocks(places.histories) if one.facts().get("id") == session]
    blank_blocks(places.histories, ((one.at, one.size) for one in ours))
    _forget_rows(places, index, session)
    names = tuple(name_of(zip_, member) for zip_, member in members)
    return Forgotten(session=session, names=names, rows=rows, raw=raw, problems=tuple(problems))


def _count(places: Places, index: Index, session: str) -> int:
    """Messages that the session ever had: in the archive those that were forgotten keep their places."""
    if found := home(places):
        with LiveSessions.opened(*found) as live:
            if recorded := sum(1 for _ in live.messages(session)) if live else 0:
                return recorded
    told = index.rows(_COUNT, (session,))[0][0]
    return int(told) + (forgotten_messages(places, session) or 0)


_COUNT = """SELECT count(DISTINCT coalesce(name, part || '#' || ordinal)) FROM messages
  JOIN members ON members.id = part WHERE session = ?"""


def _forget_live(places: Places, session: str) -> int:
    found = home(places)
    if found is None or not is_recorded(places):
        return 0
    data, tenant = found
    return wait_for(lambda: in_archive(data, lambda archive: archive.forget(session, tenant)))


def raw_logs(places: Places) -> Iterator[Path]:
    """All logs that are in no zip: live ones, those on their way, those in the trash and put aside."""
    root = places.folder.absolute().parents[1]
    yield from (root / "temp" / "model_responses").glob("model_responses_*")
    for folder in (places.staging, places.trash, places.quarantine):
        yield from (path for path in folder.rglob("*") if path.is_file())


def _forget_raw(path: Path, session: str, problems: list[str]) -> bool:
    """Delete a log of the session."""
    try:
        if not _is_of(path, session):
            return False
        os.unlink(path)
    except (OSError, *BROKEN) as error:
        problems.append(f"{path}: {error}")
        return False
    return True


def _is_of(path: Path, session: str) -> bool:
    if path.name.partition(".")[2].startswith("zip"):
        return any(facts.get("session") == session for facts in facts_of(path).values())
    with path.open("rb") as file:
        return any(exchange.session == session for exchange in read_exchanges(read_sections(file)))


def _forget_members(places: Places, index: Index, session: str, problems: list[str]) -> list[tuple[str, str]]:
    known = index.rows("SELECT zip, member FROM members WHERE session = ?", (session,))
    out: list[tuple[str, str]] = []
    for path in places.zips():
        try:
            ours = [member for member, facts in facts_of(path).items() if facts.get("session") == session]
            ours += [member for name, member in known if name == path.name and member not in ours]
            if ours:
                rewrite_zip(path, dict.fromkeys(ours))
        except BROKEN as error:
            problems.append(f"{path}: {error}")
            continue
        out += [(path.name, member) for member in ours]
    return out


def _forget_rows(places: Places, index: Index, session: str) -> None:
    with index.transaction():
        index.rows("DELETE FROM items WHERE json_extract(plan, '$.session') = ?", (session,))
        index.rows("DELETE FROM messages WHERE part IN (SELECT -id FROM live WHERE session = ?)", (session,))
        index.rows("DELETE FROM live WHERE session = ?", (session,))
        index.rows("DELETE FROM members WHERE session = ?", (session,))
        _forget_reports(index, session)
        texts.drop_orphans(index)
    reconcile(places, Journal(index))
    texts.purge(index)


def _forget_reports(index: Index, session: str) -> None:
    """Reports of runs say what was archived."""
    for run, report in index.rows("SELECT id, report FROM runs WHERE report IS NOT NULL"):
        told = json.loads(report)
        kept = [one for one in told.get("archived", ()) if one.get("session") != session]
        if len(kept) < len(told.get("archived", ())):
            index.rows("UPDATE runs SET report = ? WHERE id = ?", (json.dumps({**told, "archived": kept}), run))
