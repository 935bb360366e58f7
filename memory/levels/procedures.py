"""L3: procedures, one file each, as text; nothing here is ever run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from memory.errors import EntryRefused
from memory.levels import provenance, rules
from memory.levels.files import read_text, remove, replace_text, writing
from memory.levels.provenance import By, Evidence
from memory.levels.values import secrets_in

LARGE = 8 * 1024
"""Bytes from which on a procedure is hardly one any more."""
LIMIT = 64 * 1024

_NAME = re.compile(r"([a-z0-9_]{1,64})(\.md|\.py)?")
_FIELD = re.compile(r"([a-z_]+):[ \t]*(.*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure:
    """One procedure."""

    name: str
    """With its ending."""
    text: str
    front: Mapping[str, str]
    """What stands between two lines of ``---`` at its top: `name`, `trigger`, `verified`, `sources` …"""

    @property
    def stem(self) -> str:
        """How it is pointed to."""
        return self.name.rpartition(".")[0]


def names(root: Path) -> tuple[str, ...]:
    """All files of L3."""
    found = (path.name for path in root.glob("*.*") if path.is_file() and path.name != rules.FILE)
    return tuple(sorted(name for name in found if (match := _NAME.fullmatch(name)) and match[2]))


def read(root: Path, name: str) -> Procedure | None:
    """A procedure by its name; the ending may be left out. Raises `EntryRefused` for what is no name."""
    stem, ending = _split(name)
    for each in (ending,) if ending else (".md", ".py"):
        if f"{stem}{each}" in names(root):
            text = read_text(root / f"{stem}{each}")
            return Procedure(name=f"{stem}{each}", text=text, front=front_of(text))
    return None


def put(
    root: Path, name: str, text: str, *, by: By, now: float, evidence: Sequence[Evidence] = ()
) -> tuple[Procedure, str | None]:
    """Write a procedure, in the place of one of that name; a warning where it is long. Raises `EntryRefused`."""
    stem, ending = _split(name)
    check(name, text)
    procedure = Procedure(name=f"{stem}{ending or '.md'}", text=text, front=front_of(text))
    provenance.cite(root, f"L3:{stem}", evidence, by, now)
    with writing(root):
        replace_text(root / procedure.name, text)
    size = len(text.encode())
    return procedure, f"{procedure.name} has {size} bytes, over {LARGE}: shorten it" if size > LARGE else None


def drop(root: Path, name: str) -> str:
    """Take a procedure away; its file name. Raises `EntryRefused`."""
    found = read(root, name)
    if found is None:
        raise EntryRefused(f"there is no procedure {name}")
    with writing(root):
        remove(root / found.name)
    provenance.drop(root, f"L3:{found.stem}")
    return found.name


def check(name: str, text: str) -> None:
    """Refuse what may not be a procedure. Raises `EntryRefused` with the reason."""
    if _split(name)[0].startswith("__"):
        raise EntryRefused(f"'{name}' has a meaning to Python: begin the name with one underscore at most")
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise EntryRefused("the procedure is no text: it holds half a character") from error
    if size > LIMIT:
        raise EntryRefused(f"the procedure has {size} bytes, more than {LIMIT}: split it")
    if not text.strip() or "\0" in text:
        raise EntryRefused("the procedure is empty" if not text.strip() else "the procedure is no text: it holds NUL")
    if found := secrets_in(text):
        raise EntryRefused(f"the procedure holds {found[0]}: write ref:NAME in its place")


def front_of(text: str) -> dict[str, str]:
    """The fields at the top of a procedure; none where it has none, or they are not closed."""
    first, *lines = text.split("\n")
    if first.strip() != "---" or not any(line.strip() == "---" for line in lines):
        return {}
    end = next(at for at, line in enumerate(lines) if line.strip() == "---")
    found = (_FIELD.fullmatch(line.strip()) for line in lines[:end])
    return {match[1]: match[2].strip() for match in found if match}


def _split(name: str) -> tuple[str, str]:
    match = _NAME.fullmatch(name)
    if match is None:
        raise EntryRefused(f"'{name[:80]}' is no name of a procedure: use a-z, 0-9 and _, with .md or .py")
    if f"{match[1]}.md" == rules.FILE:
        raise EntryRefused(f"{rules.FILE} is L0: it comes with the gateway")
    return match[1], match[2] or ""
