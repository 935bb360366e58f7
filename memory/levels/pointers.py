"""Pointers from one level down to another: ``L2:SECTION``, ``L3:name``, ``L4:SESSION#MESSAGE``."""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

from memory.errors import EntryRefused
from memory.L4_raw_sessions.places import Places

L4_FOLDER = "L4_raw_sessions"
POINTER = re.compile(r"(?<![\w/])L[234]:[^\s,;|()\[\]\"']+")
_L4 = re.compile(r"L4:([^\s#]{1,200})(?:#(\d{1,9}))?")
_MEMBER = re.compile(r"(\d{4}-\d{2})/([^/\s]+)")


@dataclass(frozen=True, slots=True)
class Pointer:
    """A session of L4, by its id or by ``YYYY-MM/NAME``, and a message in it, counted from 0."""

    session: str
    message: int | None = None

    def __str__(self) -> str:
        return f"L4:{self.session}" + ("" if self.message is None else f"#{self.message}")


def read_pointer(text: str) -> Pointer:
    """A pointer from its text. Raises `EntryRefused`."""
    match = _L4.fullmatch(text)
    if match is None:
        raise EntryRefused(f"'{text[:80]}' is no pointer: write L4:SESSION or L4:SESSION#MESSAGE")
    return Pointer(match[1], None if match[2] is None else int(match[2]))


class Zips:
    """The sessions in the zips of an archive; the list of each month is read once."""

    def __init__(self, root: Path) -> None:
        self._places = Places(root / L4_FOLDER)
        self._months: dict[str, frozenset[str]] = {}

    def has(self, name: str) -> bool:
        """Whether a session that is called ``YYYY-MM/NAME`` stands in one of the month's zips."""
        match = _MEMBER.fullmatch(name)
        if match is None:
            return False
        if match[1] not in self._months:
            self._months[match[1]] = frozenset().union(*map(_members, self._places.zips(match[1])))
        return f"{match[2]}.txt" in self._months[match[1]]


def _members(path: Path) -> frozenset[str]:
    try:
        with zipfile.ZipFile(path) as file:
            return frozenset(file.namelist())
    except (OSError, zipfile.BadZipFile):
        return frozenset()
