"""What is in verified members already; a row of the index is believed only after its member was read."""

from __future__ import annotations

from collections.abc import Iterable

from memory.L4_raw_sessions import zips
from memory.L4_raw_sessions.index import Index, Row
from memory.L4_raw_sessions.places import Places


class Archived:
    """Answers from an index, or that there is nothing where there is none."""

    def __init__(self, places: Places, index: Index | None) -> None:
        self._places = places
        self._index = index
        self._sound: dict[int, bool] = {}
        self._names: dict[str, dict[str, str]] = {}

    def has_exchange(self, key: str) -> bool:
        """Whether a member that can be read holds an exchange."""
        sql = """SELECT m.id, m.zip, m.member, m.sha256 FROM exchanges e JOIN members m ON m.id = e.member
          WHERE e.key = ?"""
        return any(map(self._is_sound, self._rows(sql, key)))

    def find_raw(self, raw_sha256: str) -> str | None:
        """Where all of a raw log is: `2026-04.zip/0403_2013-0403_2145.txt`."""
        sql = "SELECT id, zip, member, sha256 FROM members WHERE raw_sha256 = ?"
        return next((f"{row[1]}/{row[2]}" for row in self._rows(sql, raw_sha256) if self._is_sound(row)), None)

    def names(self, month: str) -> dict[str, str]:
        """The members of a month, with their SHA-256; the caller may add to it what it is about to make."""
        if month not in self._names:
            found: dict[str, str] = {}
            for path in self._places.zips(month):
                try:
                    facts = zips.facts_of(path)
                except zips.BROKEN:
                    continue
                found |= {name: str(said.get("sha256")) for name, said in facts.items()}
            self._names[month] = found
        return self._names[month]

    def _is_sound(self, row: Row) -> bool:
        id_, name, member, sha256 = row
        if id_ not in self._sound:
            self._sound[id_] = zips.digest_member(self._places.folder / name, member) == sha256
        return self._sound[id_]

    def _rows(self, sql: str, value: str) -> Iterable[Row]:
        return self._index.rows(sql, (value,)) if self._index else ()
