"""What was forwarded before is not done again, and nobody can tell."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gateway import passes
from gateway.identity import Item, chain, text_in
from gateway.pins import Pins
from gateway.reading import Reader
from gateway.rewriter import Outgoing, Rewriter
from gateway.sessions import Sessions
from gateway.shapes import chat_completions
from memory import Decisions
from rules_engine import RuleSet, find_ids
from tests.samples import LISTING, PROGRESS, SAMPLES, Step

SAMPLE = SAMPLES[chat_completions.PATH]
PADDING = "x" * 20_000
STEPS = [Step("tar cvf a.tar .", PROGRESS), Step("ls", LISTING), Step("true", "")]


@dataclass
class Desk:
    """A reader and a rewriter that may forget what they did, and their sessions."""

    decisions: Decisions
    forgetful: bool = False
    reader: Reader = field(default_factory=Reader)
    sessions: Sessions = field(default_factory=Sessions)

    def __post_init__(self) -> None:
        self.rewriter = self.new_rewriter()

    def new_rewriter(self) -> Rewriter:
        """One that has seen nothing yet; the store has what was decided."""
        return Rewriter(Pins(self.decisions, lambda: 0.0, 5.0), self.omitted, lambda model: 0)

    async def omitted(self, tenant: str, name: str) -> str | None:
        """Nothing is in the redacted store."""
        return None

    async def send(self, steps: Sequence[Step], *, task: str = "", how: str = "") -> Outgoing:
        """What is forwarded of a request, without what differs from one rewriter to the next."""
        if self.forgetful:
            self.reader, self.rewriter = Reader(), self.new_rewriter()
        request: dict[str, Any] = SAMPLE.request(steps, padding=PADDING)
        request["messages"][0]["content"] += task
        body = json.dumps(request, indent=1 if how == "spaced" else None).encode()
        read = self.reader.read(chat_completions, body)
        links = chain(read, "t")
        history = self.sessions.resume(read, links, None)
        outgoing = await self.rewriter.rewrite(
            body, read, tenant="t", chain=links, known=history.known, allowed=lambda _: how != "off", ruleset=RuleSet
        )
        self.sessions.remember(read, links, history, outgoing.digests)
        if outgoing.committed is not None:
            assert await outgoing.committed()
        seen = [replace(one, text=text_in(read.messages[one.at].message, one)) for one in outgoing.seen]
        return replace(outgoing, committed=None, seen=type(outgoing.seen)(seen))


def recall(outgoing: Outgoing) -> Step:
    """A recall of what a mark in the request hides, if there is one."""
    ids = [name for shown in outgoing.shown for name in find_ids(shown.text)]
    return Step(f"echo recall:{ids[-1]}", f"recall:{ids[-1]}\n") if ids else STEPS[-1]


async def judge(moves: Sequence[tuple[str, int, str]]) -> None:
    """Take the same way with a desk that remembers and with one that does not."""
    with TemporaryDirectory() as first, TemporaryDirectory() as second:
        stores = [await Decisions.open(Path(folder) / "d.sqlite") for folder in (first, second)]
        desks = [Desk(stores[0]), Desk(stores[1], forgetful=True)]
        steps = [STEPS[0]]
        try:
            for move, which, how in moves:
                task = "Elsewhere." if move == "elsewhere" else ""
                steps = steps[:-1] if move == "back" else [*steps, STEPS[which]] if move == "on" else steps
                got, wanted = [await desk.send(steps, task=task, how=how) for desk in desks]
                steps = [*steps, recall(got)] if move == "recall" else steps

                assert got == wanted
        finally:
            for store in stores:
                await store.aclose()


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["on", "on", "on", "again", "back", "elsewhere", "recall"]),
            st.integers(0, len(STEPS) - 1),
            st.sampled_from(["", "", "off", "spaced"]),
        ),
        min_size=2,
        max_size=8,
    )
)
@example([("again", 0, "off"), ("elsewhere", 0, ""), ("again", 0, "")])
@example([("on", 1, ""), ("on", 2, "spaced"), ("on", 1, "spaced")])
def test_nobody_can_tell(moves: list[tuple[str, int, str]]) -> None:
    """Turns, retries, ways back, the same outputs elsewhere and recalls are forwarded as by one that does all anew."""
    asyncio.run(judge(moves))


async def test_what_is_known_is_not_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a turn only the new observation is shown; elsewhere the same history is shown whole."""
    shown: list[str] = []
    show = passes.Pass._show

    def note(self: passes.Pass, item: Item, at: int) -> passes.Shown:
        shown.append(item.digest)
        return show(self, item, at)

    monkeypatch.setattr(passes.Pass, "_show", note)
    decisions = await Decisions.open(tmp_path / "d.sqlite")
    counts = []
    desk = Desk(decisions)
    for steps, task in ((STEPS[:1], ""), (STEPS[:2], ""), (STEPS[:2], ""), (STEPS[:2], "Elsewhere.")):
        shown.clear()
        await desk.send(steps, task=task)
        counts.append(len(shown))
    await decisions.aclose()

    assert counts == [1, 1, 0, 2]
