"""L1: the index, made by code from what L2, L3 and L4 hold; only its rules are a person's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from memory.errors import EntryRefused
from memory.levels import facts, procedures, provenance
from memory.levels.files import append_lines, read_text, replace_text, writing
from memory.levels.pointers import POINTER, Zips
from memory.levels.provenance import KEY, Links
from memory.levels.values import odd_in, secrets_in, values_in

FILE = "global_mem_insight.txt"
LINES = 30
"""At most."""
BYTES = 1024
"""Less than."""
KEPT = "global_mem_insight.kept.txt"
"""Lines of others that stood in the index before it was built."""

_HEAD = (
    "# Index of pointers; what they point to is read when needed.",
    "L0 memory_management_sop.md; L2 global_mem.txt; L3 NAME.md or NAME.py",
    "L4 L4_raw_sessions/: YYYY-MM.zip; search all_histories.txt",
)
_RULES = "[RULES]"
_KEY = re.compile(r"\w[\w .+-]{0,38}\w")
_LED = re.compile(r": L4:\S+$")
_MOST, _LEAST = 10, 3
"""Sessions that are pointed to while there is room, and those for which procedures are drawn together."""
_LISTED = 50
"""Sessions without room that are told one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """An index, and what it does not name for want of room."""

    text: str
    left_out: tuple[str, ...]


def build(root: Path) -> Built:
    """The index of what is there now. Raises `EntryRefused` where its rules leave no room."""
    return _build(root, rules_of(read_text(root / FILE)))


def rebuild(root: Path) -> Built:
    """Write the index anew; its rules stay. Raises `EntryRefused`, and then the file is as it was."""
    with writing(root):
        return _put(root, build(root))


def write_rules(root: Path, rules: Sequence[str]) -> Built:
    """Give the index other rules, one a line. Raises `EntryRefused` with the reasons."""
    with writing(root):
        return _put(root, _build(root, tuple(rules)))


def write(root: Path, text: str) -> None:
    """Put a text in the place of the index; of it, only the rules outlast the next change below. Raises `EntryRefused`."""
    with writing(root):
        if problems := check(root, text):
            raise EntryRefused("; ".join(problems))
        replace_text(root / FILE, text)


def check(root: Path, text: str) -> tuple[str, ...]:
    """Everything that is wrong with a text as an index: its size, values in it, pointers to nothing."""
    return _check(_Targets(root), text)


def _check(targets: _Targets, text: str) -> tuple[str, ...]:
    lines = text.removesuffix("\n").split("\n")
    size = len(text.encode("utf-8", "surrogatepass"))
    out = []
    if len(lines) > LINES:
        out.append(f"it has {len(lines)} lines; {LINES} are allowed")
    if size >= BYTES:
        out.append(f"it has {size} bytes; it must have less than {BYTES}")
    for number, line in enumerate(lines, 1):
        found = (*odd_in(line), *values_in(POINTER.sub("", line)))
        out += [f"line {number} holds {kind}: put it into L2 and point to it" for kind in found]
        out += [f"line {number}: {dead} points to nothing" for dead in targets.missing(line)]
    return tuple(out)


def rules_of(text: str) -> tuple[str, ...]:
    """The rules in an index."""
    lines = text.split("\n")
    return tuple(line for line in lines[lines.index(_RULES) + 1 :] if line.strip()) if _RULES in lines else ()


def key_problem(key: str) -> str | None:
    """Why a word cannot be a key to sessions; `None`: it can."""
    if not _KEY.fullmatch(key):
        return f"'{key[:40]}' is no key: 2 to 40 letters, digits, blanks and . + -"
    found = (*values_in(key), *secrets_in(key))
    return f"the key holds {', '.join(found)}" if found else None


def _put(root: Path, built: Built) -> Built:
    """Write the index; what somebody else wrote there is put aside first."""
    before = read_text(root / FILE)
    if before == built.text:
        return built
    theirs = [line for line in before.split(f"{_RULES}\n")[0].split("\n") if line.strip() and not _is_built(line)]
    if theirs:
        append_lines(root / KEPT, theirs)
    replace_text(root / FILE, built.text)
    return replace(built, left_out=(*built.left_out, f"{len(theirs)} lines of others: {KEPT}")) if theirs else built


def _is_built(line: str) -> bool:
    return line in _HEAD or line.startswith(("L2:", "L3:")) or _LED.search(line) is not None


def _build(root: Path, rules: Sequence[str]) -> Built:
    targets = _Targets(root)
    latest = _latest(provenance.read(root))
    names = sorted(set(latest.values()), reverse=True)
    told = [name for name in names[:_LISTED] if targets.zips.has(name)]
    sessions = [(name, sorted(key for key, own in latest.items() if own == name)) for name in told]
    older = [f"{len(names) - _LISTED} older sessions"] if len(names) > _LISTED else []
    problems: tuple[str, ...] = ()
    for l3, most in _attempts(targets.procedures):
        l2 = targets.sections if l3 is not None else ()
        text = _text(l2, l3 or (), sessions[:most], rules)
        problems = _check(targets, text)
        if not problems:
            below = () if l3 is not None else (*targets.sections, *(f"L3:{found.stem}" for found in targets.procedures))
            return Built(text=text, left_out=(*below, *(_line(*each) for each in sessions[most:]), *older))
    raise EntryRefused("; ".join(problems))


def _latest(links: Links) -> dict[str, str]:
    """For each key the latest of its sessions, as it is called in the archive."""
    out: dict[str, str] = {}
    for entry, proofs in links.entries.items():
        names = [max(link.names) for link in proofs if link.names and not link.gone] if entry.startswith(KEY) else []
        if names:
            out[entry.removeprefix(KEY)] = max(names)
    return out


def _attempts(written: Sequence[procedures.Procedure]) -> Iterator[tuple[list[str] | None, int]]:
    """Ways to name procedures and sessions, from the fullest to the barest."""
    stems = list(dict.fromkeys(found.stem for found in written))
    told = [_told(found) for found in {found.stem: found for found in written}.values()]
    sets = [_set(name, list(group)) for name, group in groupby(sorted(stems), key=lambda stem: stem.split("_")[0])]
    ways = [told, _wrapped(stems), _wrapped(sets)]
    for way in ways:
        for most in range(_MOST, _LEAST - 1, -1):
            yield way, most
    for most in range(_LEAST - 1, -1, -1):
        yield _wrapped(sets), most
    for most in range(_LEAST, -1, -1):
        yield None, most


def _told(found: procedures.Procedure) -> str:
    trigger = " ".join(found.front.get("trigger", "").split())[:60]
    fits = trigger and not (*odd_in(trigger), *values_in(trigger), *POINTER.findall(trigger))
    return f"L3:{found.stem}: {trigger}" if fits else f"L3:{found.stem}"


def _set(name: str, stems: Sequence[str]) -> str:
    return stems[0] if len(stems) == 1 else f"{name}_*" if name else stems[0]


def _wrapped(stems: Sequence[str]) -> list[str]:
    return [" ".join(f"L3:{stem}" for stem in stems[at : at + 8]) for at in range(0, len(stems), 8)]


def _text(l2: Sequence[str], l3: Sequence[str], l4: Sequence[tuple[str, Sequence[str]]], rules: Sequence[str]) -> str:
    sections = [" ".join(l2)] if l2 else []
    return "\n".join([*_HEAD, *sections, *l3, *(_line(*each) for each in l4), _RULES, *rules]) + "\n"


def _line(name: str, keys: Sequence[str]) -> str:
    return f"{', '.join(keys)}: L4:{name}"


class _Targets:
    """What pointers may lead to, looked for once."""

    def __init__(self, root: Path) -> None:
        self.zips = Zips(root)
        found = (procedures.read(root, name) for name in procedures.names(root))
        self.procedures = tuple(procedure for procedure in found if procedure)
        self._stems = {name for found in self.procedures for name in (found.stem, found.name)}
        names = [f"L2:{name}" for name in facts.sections(root)]
        self.sections = tuple(name for name in names if POINTER.fullmatch(name))
        self._facts = {*self.sections, *(f"L2:{fact.id}" for fact in facts.read(root))}

    def missing(self, line: str) -> Iterator[str]:
        """The pointers in a line that lead nowhere."""
        return (pointer for pointer in POINTER.findall(line) if not self._has(pointer.rstrip(".:")))

    def _has(self, pointer: str) -> bool:
        level, name = pointer[:2], pointer[3:]
        if level == "L4":
            return self.zips.has(name.partition("#")[0])
        if level == "L2":
            return pointer in self._facts
        return any(stem.startswith(name[:-1]) for stem in self._stems) if name.endswith("*") else name in self._stems
