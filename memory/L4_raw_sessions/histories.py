"""Whole blocks of `all_histories.txt` by a keyword, as anybody could read them out of that file; live sessions like archived ones."""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO, cast
from urllib.parse import unquote

from memory.L4_raw_sessions.catchup import archived_keys, home
from memory.L4_raw_sessions.history import block, iso, read_history
from memory.L4_raw_sessions.index import Index
from memory.L4_raw_sessions.live import LiveSessions, log_of
from memory.L4_raw_sessions.places import SEPARATOR, Places, name_of, places_at
from memory.L4_raw_sessions.search import Moment, Wanted, moment, searched

LIVE = "live/"
"""Before the id of a session that is not archived yet, where a name stands."""

_HEAD = re.compile(rb"^%b\nSESSION: (.*)\n%b\n" % (SEPARATOR.encode(), SEPARATOR.encode()), re.MULTILINE)
_FACT = re.compile(r"(\w+)=(\S*)")
_SPEAKERS = {"user": "[USER]", "assistant": "[Agent]", "tool": "[Tool]"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """What the histories say of a session, or of a part of one."""

    name: str
    at: int
    """Where it stands in the file."""
    size: int
    """Bytes up to the next one."""
    text: str
    """Header included."""

    def facts(self) -> dict[str, str]:
        """What its line that begins with ``# `` says."""
        said = next((line for line in self.text.split("\n", 4)[3:] if line.startswith("# ")), "")
        return {name: unquote(value) for name, value in _FACT.findall(said)}


def search_history(
    keyword: str,
    *,
    limit: int | None = None,
    since: Moment | None = None,
    until: Moment | None = None,
    role: str | None = None,
    model: str | None = None,
    session: str | None = None,
    l4_dir: Path | str | None = None,
) -> list[str]:
    """Blocks that contain the keyword in any case, in the order of the file, live sessions last; of many the last `limit`.

    For the words of whole messages there is `search_sessions`.
    """
    places = places_at(l4_dir)
    wanted = Wanted(since=moment(since), until=moment(until), role=role, model=model, session=session)
    found = [one for one in _all_blocks(places) if _holds(one, keyword, role) and _answers(one, wanted)]
    return [one.text for one in (found if limit is None else found[max(0, len(found) - limit) :])]


def _all_blocks(places: Places) -> Iterator[Block]:
    yield from read_blocks(places.histories)
    with searched(places) as index:
        if index is not None:
            yield from _live_blocks(places, index)


def read_blocks(path: Path) -> Iterator[Block]:
    """The blocks of a history file, one at a time; what stands before the first header is nobody's."""
    if not path.exists() or not path.stat().st_size:
        return
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        last: re.Match[bytes] | None = None
        for match in _HEAD.finditer(data):
            if last is not None:
                yield _block(data, last, match.start())
            last = match
        if last is not None:
            yield _block(data, last, len(data))


def _block(data: mmap.mmap, head: re.Match[bytes], end: int) -> Block:
    text = data[head.start() : end].decode("utf-8", "replace").rstrip("\n") + "\n"
    return Block(name=head[1].decode("utf-8", "replace"), at=head.start(), size=end - head.start(), text=text)


def _holds(one: Block, keyword: str, role: str | None) -> bool:
    word = keyword.lower()
    if word not in one.text.lower():
        return False
    speaker = _SPEAKERS.get(role or "", "\0")
    return role is None or any(line.startswith(speaker) and word in line.lower() for line in one.text.split("\n"))


def _answers(one: Block, wanted: Wanted) -> bool:
    if wanted == replace(Wanted(), role=wanted.role):
        return True
    facts = one.facts()
    if wanted.session not in (None, facts.get("id"), name_of(facts.get("zip", ""), one.name)):
        return False
    if wanted.model not in (None, facts.get("model")):
        return False
    started, ended = _time(facts.get("from")), _time(facts.get("to"))
    # What says no time cannot be within it.
    after = wanted.since is None or (ended is not None and ended >= wanted.since)
    return after and (wanted.until is None or (started is not None and started <= wanted.until))


def _time(text: str | None) -> float | None:
    try:
        return None if text is None else datetime.fromisoformat(text).timestamp()
    except ValueError:
        return None


def _live_blocks(places: Places, index: Index) -> Iterator[Block]:
    sql = "SELECT id, session, model, started, ended, history FROM live WHERE NOT stale ORDER BY started"
    for id_, session, model, started, ended, history in index.rows(sql):
        facts = f"id={session} from={iso(started)} to={iso(ended)}" + (f" model={model}" if model else "")
        lines = history.split("\n") if history is not None else _tell(places, index, id_, session)
        text = block(f"{LIVE}{session}", lines, facts).decode().lstrip("\n")
        yield Block(name=f"{LIVE}{session}", at=0, size=0, text=text)


def _tell(places: Places, index: Index, id_: int, session: str) -> list[str]:
    """The lines of a live session, kept until something new is said in it."""
    found = home(places)
    if found is None:
        return []
    with LiveSessions.opened(*found) as live, TemporaryFile() as file:
        for piece in log_of(live, session, archived_keys(index, session)) if live else ():
            file.write(piece)
        file.seek(0)
        lines = read_history(cast("BinaryIO", file))
    with index.transaction():
        index.rows("UPDATE live SET history = ? WHERE id = ?", ("\n".join(lines), id_))
    return lines
