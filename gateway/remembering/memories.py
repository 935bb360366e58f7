"""A tenant's memory as one thing: the archive of sessions and the levels above it, asked and changed together."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar
from urllib.parse import unquote

from gateway.config import Config
from gateway.remembering.archiving import archive
from gateway.remembering.retaining import let_go
from memory import (
    Forgotten,
    Found,
    Redacted,
    StoreMissing,
    Told,
    Verified,
    batch_process,
    export,
    forget,
    read_session,
    rebuild_index,
    redact_archive,
    resolve,
    restore,
    search_sessions,
    verify,
)
from memory.L4_raw_sessions import telling
from memory.L4_raw_sessions.places import Places, places_of
from memory.L4_raw_sessions.reading import Part
from memory.L4_raw_sessions.retention import Expired
from memory.L4_raw_sessions.returning import take_back
from memory.L4_raw_sessions.schedule import status
from memory.L4_raw_sessions.sweeping import Sweep
from memory.L4_raw_sessions.tombstones import forgotten_messages
from memory.levels import Fact, Levels, Link, Procedure, procedures, rules
from memory.roots import FIRST, raw_folder, root_of, roots

LEVELS = ("L2", "L3", "L1", "candidate")

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """One message that proves an entry."""

    pointer: str
    names: tuple[str, ...]
    """``YYYY-MM/NAME`` of the parts of its session, where they are archived."""
    quote: str
    """Verbatim; without a quote the message's own words."""
    role: str | None
    """`None`: the message is not there any more, or the whole session proves it."""
    exchange: str
    by: str
    time: float
    gone: bool
    """The session was forgotten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """An entry of an upper level and all that proves it."""

    entry: str
    text: str
    proofs: tuple[Proof, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One session, and what rests on it."""

    session: str
    names: tuple[str, ...]
    """``YYYY-MM/NAME`` of what is archived."""
    live: bool
    """Some of it is in no zip yet."""
    model: str | None
    started: float
    ended: float
    cited_by: tuple[str, ...]
    """The entries that it proves."""
    messages: tuple[Told, ...]


class Memory:
    """The memory below one tenant's folder. It waits for the disk: call it in a thread, or in a process of its own."""

    def __init__(self, root: Path, clock: Callable[[], float] = time.time) -> None:
        self.root = root
        self._clock = clock
        self.places: Places = places_of(raw_folder(root))
        self.levels = Levels(root / "memory", clock)

    def search(self, words: str, **wanted: Any) -> list[Found]:
        """Sessions that say these words; see `memory.search_sessions`."""
        return search_sessions(words, l4_dir=self.places.folder, **wanted)

    def sessions(self) -> list[Part]:
        """All sessions, part by part, the oldest first."""
        return telling.sessions(l4_dir=self.places.folder)

    def show(self, session: str) -> Shown:
        """A session, by its id or by ``YYYY-MM/NAME``, and the entries that cite it. Raises `StoreError`."""
        parts, messages = telling.tell(session, l4_dir=self.places.folder)
        return Shown(
            session=parts[0].session,
            names=tuple(part.name for part in parts if part.name),
            live=any(part.name is None for part in parts),
            model=parts[-1].model,
            started=min(part.started for part in parts),
            ended=max(part.ended for part in parts),
            cited_by=self.levels.cited_by(parts[0].session),
            messages=tuple(messages),
        )

    def read(self, session: str) -> str:
        """The log of a session. Raises `StoreError`."""
        return read_session(session, l4_dir=self.places.folder)

    def why(self, entry: str) -> Reason | None:
        """What proves an entry, ``L2:ID``, ``L3:NAME``, ``L1:KEY``, ``candidate:ID``, or without its level; `None`: there is none."""
        level, _, _ = entry.partition(":")
        names = [entry] if level in LEVELS else [f"{each}:{entry}" for each in LEVELS]
        found = next((why for name in names if (why := self.levels.why(name))), None)
        if found is None:
            return None
        return Reason(entry=found.entry, text=found.text, proofs=tuple(map(self._proof, found.links)))

    def _proof(self, link: Link) -> Proof:
        at = "" if link.message is None else f"#{link.message}"
        told = None if link.gone or not at else resolve(f"L4:{link.session}{at}", l4_dir=self.places.folder)
        return Proof(
            pointer=f"L4:{link.session}{at}",
            names=link.names,
            quote=link.quote or (told.text if told else ""),
            role=told.role if told else None,
            exchange=link.exchange,
            by=link.by,
            time=link.time,
            gone=link.gone,
        )

    def fact(self, id_: str) -> Fact | None:
        """A fact by its id, with its level or without."""
        return next((fact for fact in self.levels.facts() if fact.id == id_.removeprefix("L2:")), None)

    def procedure(self, name: str) -> Procedure | None:
        """A procedure by its name, with its level and its ending or without. Raises `EntryRefused` for what is no name."""
        return procedures.read(self.root / "memory", name.removeprefix("L3:"))

    def run(self, config: Config, *, dry_run: bool = False) -> dict[str, Any]:
        """Archive the sessions that have been quiet for two hours, and learn from them; or say what would be done."""
        raw = raw_folder(self.root)
        return batch_process(raw, self.places.folder, dry_run=True) if dry_run else archive(config, self.root)

    def verify(self, month: str | None = None) -> Verified:
        """Read everything that is archived, and compare it with what was put there."""
        return verify(month, l4_dir=self.places.folder)

    def rebuild(self) -> dict[str, Any]:
        """Make the index of the archive anew from its files. Raises `StoreError`."""
        return asdict(rebuild_index(l4_dir=self.places.folder))

    def export(self, form: Literal["jsonl", "openai"], session: str | None = None) -> Generator[str, None, None]:
        """Sessions as JSON lines. Raises `StoreError`."""
        yield from export(form, session=session, l4_dir=self.places.folder)

    def restore(self, session: str) -> list[dict[str, Any]]:
        """The conversation, to go on with it; where it was forgotten and put back, what it proved is there again, too.

        Raises `StoreError`.
        """
        messages = restore(session, l4_dir=self.places.folder)
        if whole := take_back(session, l4_dir=self.places.folder):
            self.levels.restored(whole)
        return messages

    def forget(self, session: str) -> Forgotten:
        """Take a session out of every file; what it proved is marked. Raises `StoreError`."""
        gone = forget(session, l4_dir=self.places.folder)
        found = gone.names or gone.rows or gone.raw
        if not found and forgotten_messages(self.places, gone.session) is None:
            raise StoreMissing(f"no session is called {session!r}; `memory search` finds them")
        self.levels.forget(gone.session)
        return gone

    def retain(self, *, days: float | None, size: int | None, dry_run: bool) -> tuple[Expired, ...]:
        """Let go of what ended more than so many days ago, and of the oldest until the zips have that size; or say what would go."""
        return let_go(self.root, self.levels, self._clock(), days=days, size=size, dry_run=dry_run)

    def redact(self, pattern: str | None = None) -> tuple[Redacted, tuple[str, ...]]:
        """Redact all files again: what changed in the archive, and which files of the levels. Raises `PatternRefused`, `StoreError`."""
        sweep = Sweep.of(pattern)
        done = redact_archive(pattern, l4_dir=self.places.folder)
        return done, self.levels.redact_again(sweep.text)

    def status(self) -> dict[str, Any]:
        """How it stands with this memory."""
        parts = self.sessions()
        return {
            "folder": str(self.root / "memory"),
            "runs": asdict(status(self.places)),
            "sessions": len({part.session for part in parts}),
            "archived": sum(part.name is not None for part in parts),
            "live": sum(part.name is None for part in parts),
            "bytes": {
                "zips": sum(path.stat().st_size for path in self.places.zips()),
                "histories": _size(self.places.histories),
                "index": _size(self.places.index),
                "raw": _size(raw_folder(self.root)),
                "trash": _size(self.places.trash),
                "quarantine": _size(self.places.quarantine),
            },
            "levels": {
                "L0": rules.DIGEST,
                "L1": len(self.levels.insight().encode()),
                "L2": len(self.levels.facts()),
                "L3": len(self.levels.procedures()),
                "candidates": len(self.levels.candidates()),
            },
            "warnings": self.levels.warnings() if self.root.joinpath("memory").is_dir() else (),
        }


def _size(path: Path) -> int:
    """Bytes of a file, or of all files of a folder."""
    if path.is_file():
        return path.stat().st_size
    return sum(each.stat().st_size for each in path.rglob("*") if each.is_file())


def tenants(data: Path) -> dict[str, Path]:
    """Whose memories there are in a data folder, the first tenant's first, and where."""
    try:
        first = (data / FIRST).read_text(encoding="utf-8")
    except FileNotFoundError:
        first = ""
    top, *others = roots(data)
    return {first: top} | {unquote(root.name): root for root in others}


def memory_of(data: Path, tenant: str | None, clock: Callable[[], float] = time.time) -> Memory:
    """The memory of a tenant; of the first, where none is named. Raises `StoreMissing` for a tenant that is not there."""
    if tenant is None:
        return Memory(data, clock)
    if tenant not in tenants(data):
        raise StoreMissing(f"no tenant is called {tenant!r}; `memory status` lists them")
    return Memory(root_of(data, tenant), clock)


def apply(work: Callable[Concatenate[Memory, P], T], root: Path, *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a method of the memory in a folder: for a process of its own."""
    return work(Memory(root), *args, **kwargs)
