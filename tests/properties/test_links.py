"""Links between the levels run both ways, whatever is archived, forgotten, redacted, lost and made anew in between."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from memory import forget, read_session, rebuild_index, redact_archive, resolve, restore, search_sessions
from memory.L4_raw_sessions.reading import find_parts
from memory.L4_raw_sessions.returning import take_back
from memory.L4_raw_sessions.search import searched
from memory.levels import Archived, Evidence, Levels, read_pointer
from tests.memory.L4_raw_sessions.talks import Talks

SESSIONS = ("alpha", "beta/one")
STEPS = st.sampled_from(["say", "say", "archive", "forget", "restore", "redact", "rebuild", "lose the index"])


@dataclass
class Cited:
    """A fact and the message that proves it."""

    session: str
    pointer: str
    word: str
    gone: bool = False


@dataclass
class House:
    """Agents that talk, and facts that are drawn from what they say."""

    talks: Talks
    levels: Levels
    cited: dict[str, Cited] = field(default_factory=dict)
    copies: dict[str, list[bytes]] = field(default_factory=dict)
    """Logs of sessions, from before they were forgotten."""

    def say(self, session: str) -> None:
        """Something is said, found at once, and becomes a fact."""
        word = f"word{len(self.cited)}x"
        self.talks.say(session, f"this is {word}", answer=f"so it is {len(self.cited)}")
        (found,) = search_sessions(word, l4_dir=self.talks.l4)
        evidence = Evidence(pointer=read_pointer(found.pointer), quote=word)
        fact, _ = self.levels.put_fact("SAID", f"somebody said {word}", by="gateway", evidence=[evidence])
        self.cited[f"L2:{fact.id}"] = Cited(session, found.pointer, word)

    def archive(self, _: str) -> None:
        """A run, and what the upper levels learn of it."""
        report = self.talks.archive()
        assert report["errors"] == []
        self.levels.archived(Archived(id=one["session"], name=one["name"]) for one in report["archived"])

    def forget(self, session: str) -> None:
        """A session goes, in all levels; somebody has a copy of its log."""
        with searched(self.talks.places) as index:
            there = bool(index and find_parts(index, session))
        if there:
            self.copies.setdefault(session, []).append(read_session(session, l4_dir=self.talks.l4).encode())
        self.levels.forget(forget(session, l4_dir=self.talks.l4).session)
        for one in self.cited.values():
            one.gone |= one.session == session

    def restore(self, session: str) -> None:
        """The copies are put back, and all of it is there again; without any nothing changes."""
        copies = self.copies.pop(session, [])
        for number, copy in enumerate(copies):
            raw = self.talks.root / "temp" / "model_responses" / f"model_responses_back{number}.txt"
            raw.write_bytes(copy)
            os.utime(raw, (self.talks.now, self.talks.now))
        self.archive(session)
        whole = take_back(session, l4_dir=self.talks.l4)
        assert (whole == session) == bool(copies)
        if whole:
            self.levels.restored(whole)
        for one in self.cited.values():
            one.gone &= one.session != session

    def redact(self, _: str) -> None:
        """Something that nobody cites goes."""
        redact_archive("so it is [0-9]+", l4_dir=self.talks.l4)

    def check(self) -> None:
        """Down from each entry, up from each session."""
        for entry, one in self.cited.items():
            told = resolve(one.pointer, l4_dir=self.talks.l4)
            why = self.levels.why(entry)
            assert why is not None
            assert [link.gone for link in why.links] == [one.gone]
            assert (told is None) == one.gone
            assert told is None or (told.session, one.word in told.text) == (one.session, True)
        for session in SESSIONS:
            citing = {entry for entry, one in self.cited.items() if one.session == session}
            assert set(self.levels.cited_by(session)) == citing
            with searched(self.talks.places) as index:
                names = [part.name for part in find_parts(index, session) if part.name] if index else []
            assert all(set(self.levels.cited_by(name)) == citing for name in names)
            kept = [one.word for one in self.cited.values() if one.session == session and not one.gone]
            said = str(restore(session, l4_dir=self.talks.l4)) if kept else ""
            assert [word for word in kept if word in said] == kept


@settings(max_examples=15)
@given(st.lists(st.tuples(STEPS, st.sampled_from(SESSIONS)), min_size=3, max_size=8))
def test_links_hold_both_ways(steps: list[tuple[str, str]]) -> None:
    """After every step each entry finds its message or says that it is gone, and each session its entries."""
    with tempfile.TemporaryDirectory() as folder:
        talks = Talks(Path(folder) / "data")
        house = House(talks, Levels(talks.l4.parent, lambda: talks.now))
        house.say(SESSIONS[0])
        for step, session in steps:
            match step:
                case "rebuild":
                    rebuild_index(l4_dir=talks.l4)
                case "lose the index":
                    talks.places.index.unlink(missing_ok=True)
                case _:
                    getattr(house, step)(session)
            house.check()
