"""What was said, out of the zips: contents by the names of their messages, for whoever does not hold them any more."""

from __future__ import annotations

from collections.abc import Iterator, Set
from contextlib import closing
from pathlib import Path
from typing import BinaryIO

import msgspec

from memory.canon import digest
from memory.errors import StoreError
from memory.L4_raw_sessions.exchanges import read_exchanges
from memory.L4_raw_sessions.index import Index
from memory.L4_raw_sessions.lines import opened
from memory.L4_raw_sessions.places import Places, places_of
from memory.L4_raw_sessions.sections import Section, read_sections
from memory.L4_raw_sessions.zips import BROKEN, digest_of, facts_of
from memory.roots import FIRST, raw_folder, root_of


class Zipped:
    """The zips of all tenants of a data folder. It waits for the disk: ask it in a thread."""

    def __init__(self, data: Path) -> None:
        self._data = data

    def read(self, tenant: str, session: str, wanted: Set[str]) -> dict[str, bytes]:
        """Contents of a tenant's session by the names of their messages, of heads by their digests: those that are there."""
        if not (self._data / FIRST).exists():  # nobody's sessions are archived, and asking must not found a memory
            return {}
        places = places_of(raw_folder(root_of(self._data, tenant)))
        out: dict[str, bytes] = {}
        for zip_, member in _members(places, session):
            if wanted <= out.keys():
                break
            try:
                with opened(places, zip_, member) as file:
                    out |= {name: content for name, content in contents_of(file) if name in wanted}
            except StoreError:  # another part may tell; what is wrong with this one, `memory verify` says
                continue
        return out


def read_held(places: Places, zip_: str, member: str, sha256: str) -> dict[str, str] | None:
    """The names of a member's messages, with the digests of what it holds; `None` where it is not what was put there."""
    try:
        with opened(places, zip_, member) as file:
            if digest_of(file) != sha256:
                return None
            file.seek(0)
            return {name: digest(content) for name, content in contents_of(file)}
    except StoreError:
        return None


def contents_of(file: BinaryIO) -> Iterator[tuple[str, bytes]]:
    """The contents of a log, byte for byte, each with its name."""
    for exchange in read_exchanges(read_sections(file)):
        if exchange.id is None:
            continue
        yield from zip(exchange.names, exchange.messages, strict=False)
        if exchange.head:
            yield digest(exchange.head), exchange.head
        yield from _reply(exchange.sections[-1])


class _Response(msgspec.Struct):
    name: str | None = None
    message: msgspec.Raw = msgspec.Raw()


def _reply(section: Section) -> Iterator[tuple[str, bytes]]:
    try:
        response = msgspec.json.decode(section.sealed or b"{}", type=_Response)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return
    if response.name and bytes(response.message) not in (b"", b"null"):
        yield response.name, bytes(response.message)


def _members(places: Places, session: str) -> list[tuple[str, str]]:
    """The members of a session, the oldest first: as the index has them, else as the zips say."""
    try:
        index = Index.open_reader(places.index)
        if index:
            with closing(index):
                sql = "SELECT zip, member FROM members WHERE session = ? ORDER BY started, id"
                return [(zip_, member) for zip_, member in index.rows(sql, (session,))]
    except StoreError:
        pass
    return list(_listed(places, session))


def _listed(places: Places, session: str) -> Iterator[tuple[str, str]]:
    for path in places.zips():
        try:
            told = facts_of(path)
        except (OSError, *BROKEN):
            continue
        yield from ((path.name, member) for member, facts in told.items() if facts.get("session") == session)
