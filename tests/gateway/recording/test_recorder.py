"""From the end of an exchange to the books: nothing waits, memory is bounded, and what is lost is counted."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from gateway.exchange import Exchange
from gateway.processes import ProcessLost
from gateway.recording import recorder as module
from gateway.recording.entries import Entry, Report
from gateway.recording.recorder import Recorder


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        """The time."""
        return self.now


class Books:
    """Keeps names, and does what a name says."""

    def __init__(self, *, mortal: bool = True) -> None:
        self.ids: list[str] = []
        self.batches = 0
        self.mortal = mortal
        self.deadly = False
        """They are lost over every batch."""
        self.lacking: tuple[int, ...] = ()

    async def take(self, entries: Sequence[Entry]) -> Report:
        """Take a batch; poison kills those who are mortal, and a fault breaks."""
        names = [entry.record.id for entry in entries]
        self.batches += 1
        if self.deadly or (self.mortal and "poison" in names):
            raise ProcessLost("killed")
        if "fault" in names:
            raise ValueError("broken")
        lacking, self.lacking = self.lacking, ()
        taken = [name for place, name in enumerate(names) if place not in lacking]
        self.ids += taken
        return Report(recorded=len(taken), lacking=lacking, lines=tuple({"request": name} for name in taken))


class Kept:
    """A recorder with its surroundings."""

    def __init__(self, limit: int = 100) -> None:
        self.books, self.reserve, self.clock = Books(), Books(mortal=False), Clock()
        self.recorder = Recorder(self.books, self.reserve, limit, self.clock)

    @asynccontextmanager
    async def running(self) -> Any:
        """It runs until all that was offered is seen to."""
        task = asyncio.ensure_future(self.recorder.run())
        yield
        self.recorder.stop()
        await asyncio.wait_for(task, 10)

    def offer(self, *ids: str, size: int = 0) -> None:
        """Offer exchanges."""
        for name in ids:
            self.recorder.offer(Exchange(id=name, method="POST", path="/", started=0.0, body=b"x" * size))

    async def settle(self, *ids: str, size: int = 0) -> None:
        """Offer exchanges, and wait until they are seen to."""
        self.offer(*ids, size=size)
        await asyncio.wait_for(self.recorder.drain(), 10)


async def test_what_is_offered_is_recorded_in_order() -> None:
    """And counted."""
    kept = Kept()
    async with kept.running():
        await kept.settle(*"abc")
        await kept.settle("d")

    assert kept.books.ids == [*"abcd"]
    assert (kept.recorder.counters.recorded, kept.recorder.problem) == (4, None)


async def test_what_waits_at_the_end_is_recorded() -> None:
    """A gateway that is told to stop loses nothing."""
    kept = Kept()
    kept.offer(*"abc")
    async with kept.running():
        pass

    assert kept.books.ids == [*"abc"]


async def test_what_comes_close_together_is_one_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch waits for company, but not once it is full."""
    monkeypatch.setattr(module, "GATHER_SECONDS", 60)
    monkeypatch.setattr(module, "BATCH", 3)
    kept = Kept()
    async with kept.running():
        for name in "abcd":
            kept.offer(name)
            await asyncio.sleep(0)
        async with asyncio.timeout(5):
            while not kept.books.ids:  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.001)
        assert kept.books.ids == [*"abc"]

    assert (kept.books.ids, kept.books.batches) == ([*"abcd"], 2)


async def test_a_queue_that_is_full_drops_and_says_so() -> None:
    """Nobody waits for room; and the end finds its place."""
    kept = Kept(limit=2)
    kept.offer(*"abcd")
    assert kept.recorder.counters.dropped == 2
    assert "keep up" in str(kept.recorder.problem)
    async with kept.running():
        await kept.recorder.drain()

    assert kept.books.ids == ["a", "b"]


async def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the size of what waits; one that is larger than the bound is taken if nothing else waits."""
    monkeypatch.setattr(module, "WAITING_BYTES", 1000)
    kept = Kept()
    kept.offer("huge", size=5000)
    kept.offer("a", size=10)
    assert kept.recorder.counters.dropped == 1
    async with kept.running():
        await kept.recorder.drain()
        await kept.settle("b", size=900)
        await kept.settle("c", size=900)

    assert kept.books.ids == ["huge", "b", "c"]


async def test_what_the_books_lack_is_handed_over_again() -> None:
    """Whole, and once."""
    kept = Kept()
    kept.books.lacking = (0, 2)
    async with kept.running():
        await kept.settle(*"abc")

    assert kept.books.ids == ["b", "a", "c"]
    assert kept.recorder.counters.dropped == 0


async def test_whoever_kills_the_books_is_taken_by_the_reserve() -> None:
    """Tried twice, the second time alone; the others go where they belong."""
    kept = Kept()
    async with kept.running():
        await kept.settle("a", "poison", "b")
        assert kept.recorder.counters.restarts == 2
        await kept.settle("c")

    assert (kept.books.ids, kept.reserve.ids) == (["a", "b", "c"], ["poison"])
    assert (kept.recorder.counters.recorded, kept.recorder.counters.dropped, kept.recorder.problem) == (4, 0, None)


async def test_books_that_are_lost_again_and_again_are_left_alone_for_a_while() -> None:
    """The reserve takes everything meanwhile, and the gateway says what is wrong."""
    kept = Kept()
    kept.books.deadly = True
    async with kept.running():
        await kept.settle(*"abcdef")
        assert (kept.reserve.ids, kept.books.batches) == ([*"abcdef"], module.LOSSES)
        await kept.settle("g")
        assert kept.books.batches == module.LOSSES
        assert "worker" in str(kept.recorder.problem)
        kept.books.deadly = False
        kept.clock.now += module.RETRY_SECONDS
        await kept.settle("h")

    assert (kept.books.ids, kept.reserve.ids) == (["h"], [*"abcdefg"])
    assert kept.recorder.problem is None


async def test_a_fault_of_the_books_ends_nothing() -> None:
    """What it was about is dropped and counted."""
    kept = Kept()
    async with kept.running():
        await kept.settle("a", "fault")
        await kept.settle("b")

    assert kept.books.ids == ["b"]
    assert kept.recorder.counters.dropped == 2


async def test_one_that_cannot_be_handed_over_costs_only_itself() -> None:
    """It is counted as dropped."""
    kept = Kept()
    async with kept.running():
        kept.recorder.offer(Exchange(id="bad", method="POST", path="/", started=0.0, answer_headers=((b"x",),)))  # type: ignore[arg-type]
        await kept.settle("a")

    assert kept.books.ids == ["a"]
    assert kept.recorder.counters.dropped == 1


async def test_broken_prefixes_and_late_commits_are_counted() -> None:
    """Also of exchanges that find no room."""
    kept = Kept(limit=1)
    for _ in range(2):
        kept.recorder.offer(
            Exchange(id="a", method="POST", path="/", started=0.0, prefix_whole=False, late_commit=True)
        )

    assert (kept.recorder.counters.broken_prefixes, kept.recorder.counters.late_commits) == (2, 2)
