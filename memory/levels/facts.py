"""L2: stable facts, one a line with a short id, in sections; lines of others stay as they are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from memory.errors import EntryRefused
from memory.levels import provenance
from memory.levels.files import read_text, replace_text, writing
from memory.levels.provenance import By, Evidence
from memory.levels.values import odd_in, secrets_in, volatile_in

FILE = "global_mem.txt"
LIMIT = 2048
"""Bytes of one fact."""
LARGE = 256 * 1024
"""Bytes from which on the file is worth thinning."""

_HEAD = "# L2: facts, one a line. Where a secret belongs, ref:NAME says where it is kept.\n"
_SECTION = re.compile(r"## \[([^\]\n]+)\]\s*")
_NAME = re.compile(r"[A-Z0-9][A-Z0-9_]{0,39}")
_FACT = re.compile(r"- \[([a-z0-9]{4,40})\] (.+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One fact."""

    id: str
    section: str
    text: str


def read(root: Path) -> tuple[Fact, ...]:
    """All facts, in the order of the file."""
    return tuple(fact for fact in _places(read_text(root / FILE).split("\n")) if fact)


def sections(root: Path) -> tuple[str, ...]:
    """The names of all sections, those without facts of ours too."""
    found = (_SECTION.fullmatch(line) for line in read_text(root / FILE).split("\n"))
    return tuple(dict.fromkeys(match[1] for match in found if match))


def put(
    root: Path, section: str, text: str, *, by: By, now: float, evidence: Sequence[Evidence] = (), key: str = ""
) -> Fact:
    """Write a fact down, or give it more evidence. Under a `key` there is one fact: a new text replaces the old one.

    Raises `EntryRefused`.
    """
    check(section, text)
    fact = Fact(id=_name(root, section, text, key), section=section, text=text)
    provenance.cite(root, f"L2:{fact.id}", evidence, by, now)
    with writing(root):
        lines = (read_text(root / FILE) or _HEAD).removesuffix("\n").split("\n")
        places = _places(lines)
        own = next((at for at, found in enumerate(places) if found and found.id == fact.id), None)
        line = f"- [{fact.id}] {text}"
        if own is not None:
            lines[own] = line
        else:
            lines = _inserted(lines, section, line)
        replace_text(root / FILE, "\n".join(lines) + "\n")
    return fact


def amend(root: Path, id_: str, text: str, *, by: By, now: float, evidence: Sequence[Evidence] = ()) -> Fact:
    """Give a fact another text. Raises `EntryRefused`."""
    section = find(root, id_).section
    check(section, text)
    provenance.cite(root, f"L2:{id_}", evidence, by, now)
    with writing(root):
        lines = read_text(root / FILE).split("\n")
        changed = [f"- [{id_}] {text}" if found and found.id == id_ else line for line, found in _both(lines)]
        replace_text(root / FILE, "\n".join(changed))
    return Fact(id=id_, section=section, text=text)


def drop(root: Path, id_: str) -> Fact:
    """Take a fact out. Raises `EntryRefused`."""
    fact = find(root, id_)
    with writing(root):
        lines = read_text(root / FILE).split("\n")
        replace_text(root / FILE, "\n".join(line for line, found in _both(lines) if not found or found.id != id_))
    provenance.drop(root, f"L2:{id_}")
    return fact


def find(root: Path, id_: str) -> Fact:
    """A fact by its id. Raises `EntryRefused` if there is none."""
    fact = next((fact for fact in read(root) if fact.id == id_), None)
    if fact is None:
        raise EntryRefused(f"no fact has the id {id_}; the file {FILE} shows them")
    return fact


def check(section: str, text: str) -> None:
    """Refuse what may not stand in L2. Raises `EntryRefused` with the reason."""
    if not _NAME.fullmatch(section):
        raise EntryRefused(f"'{section}' is no name of a section: use capitals, digits and _, at most 40")
    if not text.strip() or text != text.strip() or "\n" in text:
        raise EntryRefused("a fact is one line, without blanks around it")
    if (size := len(text.encode("utf-8", "surrogatepass"))) > LIMIT:
        raise EntryRefused(f"the fact has {size} bytes, more than {LIMIT}: shorten it, or write a procedure")
    if found := secrets_in(text):
        raise EntryRefused(f"the fact holds {found[0]}: write ref:NAME in its place")
    if found := (*odd_in(text), *volatile_in(text)):
        raise EntryRefused(f"the fact holds {', '.join(found)}, which will not be true for long: leave it out")


def warning(root: Path) -> str | None:
    """Whether the file is large."""
    size = len(read_text(root / FILE).encode())
    return f"{root / FILE}: has {size} bytes, over {LARGE}: move what is long to L3" if size > LARGE else None


def _name(root: Path, section: str, text: str, key: str) -> str:
    if key:
        return "g" + blake2b(f"{section}\0{key}".encode(), digest_size=4).hexdigest()
    facts = {fact.id: fact for fact in read(root)}
    same = next((fact.id for fact in facts.values() if (fact.section, fact.text) == (section, text)), None)
    if same is not None:
        return same
    name = "f" + blake2b(f"{section}\0{text}".encode(), digest_size=16).hexdigest()
    return next(name[:size] for size in (7, 9, 13, 33) if name[:size] not in facts)


def _places(lines: Sequence[str]) -> list[Fact | None]:
    """For each line the fact in it."""
    out: list[Fact | None] = []
    section = "GENERAL"
    for line in lines:
        if heading := _SECTION.fullmatch(line):
            section = heading[1]
        match = _FACT.fullmatch(line)
        out.append(Fact(id=match[1], section=section, text=match[2]) if match else None)
    return out


def _both(lines: Sequence[str]) -> list[tuple[str, Fact | None]]:
    return list(zip(lines, _places(lines), strict=True))


def _inserted(lines: list[str], section: str, line: str) -> list[str]:
    """The lines with one more at the end of its section, which is begun where there is none."""
    heads = [(at, match[1]) for at, text in enumerate(lines) if (match := _SECTION.fullmatch(text))]
    start = next((at for at, name in heads if name == section), None)
    if start is None:
        return [*lines, f"## [{section}]", line]
    end = next((at for at, _ in heads if at > start), len(lines))
    while end > start + 1 and not lines[end - 1].strip():
        end -= 1
    return [*lines[:end], line, *lines[end:]]
