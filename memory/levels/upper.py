"""The upper levels of one memory folder: whatever changes below, the index above it stays in step."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from memory.errors import EntryRefused
from memory.levels import candidates, facts, insight, procedures, provenance, rules
from memory.levels.candidates import Candidate, Witness
from memory.levels.facts import Fact
from memory.levels.files import read_text, replace_text, writing
from memory.levels.insight import Built
from memory.levels.procedures import Procedure
from memory.levels.provenance import By, Evidence, Link


@dataclass(frozen=True, slots=True, kw_only=True)
class Archived:
    """A session that a run has archived and verified."""

    id: str
    name: str
    """``YYYY-MM/MMDD_HHMM-MMDD_HHMM``."""
    keys: tuple[str, ...] = ()
    """Words by which it is found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """An entry and what proves it."""

    entry: str
    text: str
    links: tuple[Link, ...]


class Levels:
    """L0 to L3 of one tenant; each call reads the files, so that several processes may change them."""

    def __init__(self, root: Path, clock: Callable[[], float]) -> None:
        """`root` is the folder `memory`."""
        self.root = root
        self._clock = clock

    def start(self) -> tuple[str, ...]:
        """Write what every memory has: the copy of the rules, an index. Says what is the matter."""
        rules.publish(self.root)
        self._index()
        return self.warnings()

    def warnings(self) -> tuple[str, ...]:
        """What a person should look at."""
        text = read_text(self.root / insight.FILE)
        wrong = [f"{self.root / insight.FILE}: {problem}" for problem in insight.check(self.root, text)]
        torn = provenance.read(self.root).unreadable
        lines = f"{self.root / provenance.FILE}: {torn} lines cannot be read; their links are not shown"
        found = (rules.warning(self.root), *wrong, facts.warning(self.root), lines if torn else None)
        return tuple(warning for warning in found if warning)

    def insight(self) -> str:
        """L1 as it stands."""
        return read_text(self.root / insight.FILE)

    def rebuild(self, *, dry_run: bool = False) -> Built:
        """Make L1 anew. Raises `EntryRefused`."""
        return insight.build(self.root) if dry_run else insight.rebuild(self.root)

    def write_insight(self, text: str) -> None:
        """Put a text in the place of L1. Raises `EntryRefused`."""
        insight.write(self.root, text)

    def write_rules(self, lines: Sequence[str]) -> Built:
        """Give L1 other rules. Raises `EntryRefused`."""
        return insight.write_rules(self.root, lines)

    def facts(self) -> tuple[Fact, ...]:
        """L2."""
        return facts.read(self.root)

    def put_fact(
        self, section: str, text: str, *, by: By, evidence: Sequence[Evidence] = (), key: str = ""
    ) -> tuple[Fact, str | None]:
        """Write a fact down; and why the index could not follow. Raises `EntryRefused`."""
        fact = facts.put(self.root, section, text, by=by, now=self._clock(), evidence=evidence, key=key)
        return fact, self._index()

    def amend_fact(self, id_: str, text: str, *, by: By, evidence: Sequence[Evidence] = ()) -> Fact:
        """Give a fact another text. Raises `EntryRefused`."""
        return facts.amend(self.root, id_, text, by=by, now=self._clock(), evidence=evidence)

    def drop_fact(self, id_: str) -> Fact:
        """Take a fact out. Raises `EntryRefused`."""
        fact = facts.drop(self.root, id_)
        self._index()
        return fact

    def procedures(self) -> tuple[Procedure, ...]:
        """L3."""
        found = (procedures.read(self.root, name) for name in procedures.names(self.root))
        return tuple(procedure for procedure in found if procedure)

    def put_procedure(
        self, name: str, text: str, *, by: By, evidence: Sequence[Evidence] = ()
    ) -> tuple[Procedure, tuple[str, ...]]:
        """Write a procedure; and what is the matter with it, or with the index. Raises `EntryRefused`."""
        procedure, long = procedures.put(self.root, name, text, by=by, now=self._clock(), evidence=evidence)
        return procedure, tuple(warning for warning in (long, self._index()) if warning)

    def drop_procedure(self, name: str) -> str:
        """Take a procedure away; its file name. Raises `EntryRefused`."""
        dropped = procedures.drop(self.root, name)
        self._index()
        return dropped

    def candidates(self, state: candidates.State | None = "open") -> tuple[Candidate, ...]:
        """What waits for a decision, or what was decided."""
        return candidates.read_all(self.root, state)

    def propose(self, level: Literal["L2", "L3"], name: str, text: str, witnesses: Sequence[Witness]) -> Candidate:
        """Put a candidate up. Raises `EntryRefused`."""
        return candidates.propose(self.root, level, name, text, witnesses, self._clock())

    def promote(self, id_: str, *, by: By) -> str:
        """Make an entry of a candidate; its name. Raises `EntryRefused`."""
        entry = candidates.promote(self.root, id_, by=by, now=self._clock())
        self._index()
        return entry

    def promote_due(self, sessions: int) -> tuple[str, ...]:
        """Promote what so many sessions show; 0 promotes nothing. What is refused stays for a person to look at."""
        out = []
        for id_ in candidates.due(self.root, sessions):
            try:
                out.append(self.promote(id_, by="policy"))
            except EntryRefused:
                continue
        return tuple(out)

    def refuse(self, id_: str, reason: str) -> Candidate:
        """Turn a candidate down. Raises `EntryRefused`."""
        return candidates.refuse(self.root, id_, reason)

    def archived(self, sessions: Iterable[Archived]) -> tuple[str, ...]:
        """Take up what a verified run has archived: names for the ids, keys for the index. Says what was left out and why."""
        done = list(sessions)
        keys = [(session, key, insight.key_problem(key)) for session in done for key in session.keys]
        good = [(key, session.id) for session, key, problem in keys if problem is None]
        provenance.archive(self.root, [(session.id, session.name) for session in done], good, self._clock())
        refused = [f"{session.name}: {problem}" for session, _, problem in keys if problem]
        behind = self._index()
        return (*refused, behind) if behind else tuple(refused)

    def why(self, entry: str) -> Why | None:
        """An entry, ``L1:KEY``, ``L2:ID``, ``L3:NAME`` or ``candidate:ID``, and what proves it; `None` where there is none."""
        links = provenance.read(self.root)
        text = self._text(entry, links)
        return None if text is None else Why(entry=entry, text=text, links=links.why(entry))

    def cited_by(self, session: str) -> tuple[str, ...]:
        """The entries that a session, given by its id or its name, proves."""
        links = provenance.read(self.root)
        return tuple(entry for entry in links.cited_by(session) if self._text(entry, links) is not None)

    def forget(self, session: str) -> None:
        """A session was forgotten: its words go, what it proved is marked, candidates that only it showed go."""
        provenance.forget(self.root, session)
        candidates.prune(self.root)
        self._index()

    def restored(self, session: str) -> None:
        """A session is there again."""
        provenance.restore(self.root, session)
        self._index()

    def redact_again(self, redact: Callable[[str], str]) -> tuple[str, ...]:
        """Redact every file; the names of those that changed."""
        before = read_text(self.root / provenance.FILE)
        provenance.revise(self.root, redact)
        changed = [provenance.FILE] if before != read_text(self.root / provenance.FILE) else []
        with writing(self.root):
            for name in (insight.FILE, insight.KEPT, facts.FILE, *procedures.names(self.root)):
                changed += self._redact(name, redact)
            for path in sorted((self.root / candidates.FOLDER).glob("c*.json")):
                changed += self._redact(f"{candidates.FOLDER}/{path.name}", lambda text: _redact_json(text, redact))
        return tuple(changed)

    def _redact(self, name: str, redact: Callable[[str], str]) -> list[str]:
        text = read_text(self.root / name)
        if (clean := redact(text)) == text:
            return []
        replace_text(self.root / name, clean)
        return [name]

    def _text(self, entry: str, links: provenance.Links) -> str | None:
        level, _, name = entry.partition(":")
        if level == "L1":
            return name if entry in links.entries else None
        if level == "L2":
            return next((fact.text for fact in self.facts() if fact.id == name), None)
        if level == "candidate":
            found = candidates.read(self.root, name)
            return found.text if found and found.state != "promoted" else None
        try:
            procedure = procedures.read(self.root, name) if level == "L3" else None
        except EntryRefused:
            return None
        return procedure.text if procedure else None

    def _index(self) -> str | None:
        """Bring L1 up to date; why it could not be. What changed below stands in any case."""
        try:
            insight.rebuild(self.root)
        except EntryRefused as error:
            return f"the index is as it was: {error}"
        return None


def _redact_json(text: str, redact: Callable[[str], str]) -> str:
    """Redact the words of a JSON object, so that it stays one."""
    fields: dict[str, Any] = json.loads(text)
    clean = {name: redact(value) if isinstance(value, str) else value for name, value in fields.items()}
    return text if clean == fields else json.dumps(clean, ensure_ascii=False, indent=1) + "\n"
