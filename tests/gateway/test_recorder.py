"""From the end of an exchange to the archive: nothing waits, memory is bounded, and what is lost is counted."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from gateway import recorder as module
from gateway.exchange import Exchange
from gateway.recorder import Recorder
from memory import ExchangeRecord, Spill, StoreError


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        """The time."""
        return self.now


class Ledger:
    """Writes up what it is given; not what is called bad."""

    lost = 0

    def give_again(self) -> None:
        """Note that a record was lost."""
        self.lost += 1

    def write_up(self, exchange: Exchange) -> ExchangeRecord:
        """A record with the same id."""
        if exchange.id == "bad":
            raise ValueError("cannot be written up")
        names: dict[str, Any] = dict.fromkeys(ExchangeRecord.__dataclass_fields__, None)
        numbers = {"started": 0.0, "ended": 0.0, "stream": False, "retry": False, "messages": (), "head": b""}
        texts = {"session": "s", "tenant": "t", "method": "POST", "path": "/", "upstream": "u", "outcome": "completed"}
        return ExchangeRecord(
            **names | numbers | texts | {"id": exchange.id, "accounts": {}, "kept": {}, "rewrites": (), "signals": ()}
        )


class Archive:
    """Keeps records, unless it is broken."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.broken = False
        self.asked = 0

    async def append(self, records: Sequence[ExchangeRecord]) -> None:
        """Take all or none."""
        self.asked += 1
        if self.broken:
            raise StoreError("broken")
        self.ids += [record.id for record in records]


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is gathered for long."""
    monkeypatch.setattr(module, "GATHER_SECONDS", 0)


class Kept:
    """A recorder with its surroundings."""

    def __init__(self, folder: Path, limit: int = 100) -> None:
        self.archive, self.clock = Archive(), Clock()
        self.recorder = Recorder(Ledger(), self.archive, Spill(folder / "spill"), limit, self.clock)  # type: ignore[arg-type]

    @asynccontextmanager
    async def running(self) -> Any:
        """It runs until all that was offered is seen to."""
        task = asyncio.ensure_future(self.recorder.run())
        yield
        self.recorder.stop()
        await asyncio.wait_for(task, 10)

    async def offer(self, *ids: str, size: int = 0) -> None:
        """Offer exchanges, and wait until they are seen to."""
        for name in ids:
            self.recorder.offer(Exchange(id=name, method="POST", path="/", started=0.0, body=b"x" * size))
        await asyncio.wait_for(self.recorder.drain(), 10)


async def test_what_is_offered_is_stored_in_order(tmp_path: Path) -> None:
    """And counted."""
    kept = Kept(tmp_path)
    async with kept.running():
        await kept.offer(*"abc")
        await kept.offer("d")

    assert kept.archive.ids == [*"abcd"]
    assert (kept.recorder.counters.recorded, kept.recorder.problem) == (4, None)


async def test_what_waits_at_the_end_is_stored(tmp_path: Path) -> None:
    """A gateway that is told to stop loses nothing."""
    kept = Kept(tmp_path)
    for name in "abc":
        kept.recorder.offer(Exchange(id=name, method="POST", path="/", started=0.0))
    async with kept.running():
        pass

    assert kept.archive.ids == [*"abc"]


async def test_one_that_cannot_be_written_up_costs_only_itself(tmp_path: Path) -> None:
    """It is counted as dropped."""
    kept = Kept(tmp_path)
    async with kept.running():
        await kept.offer("a", "bad", "b")

    assert kept.archive.ids == ["a", "b"]
    assert kept.recorder.counters.dropped == 1


async def test_a_queue_that_is_full_drops_and_says_so(tmp_path: Path) -> None:
    """Nobody waits for room; and the end finds its place."""
    kept = Kept(tmp_path, limit=2)
    for name in "abcd":
        kept.recorder.offer(Exchange(id=name, method="POST", path="/", started=0.0))
    assert kept.recorder.counters.dropped == 2
    assert "keep up" in str(kept.recorder.problem)
    async with kept.running():
        await kept.recorder.drain()

    assert kept.archive.ids == ["a", "b"]


async def test_memory_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the size of what waits; one that is larger than the bound is taken if nothing else waits."""
    monkeypatch.setattr(module, "WAITING_BYTES", 1000)
    kept = Kept(tmp_path)
    for name, size in (("huge", 5000), ("a", 10)):
        kept.recorder.offer(Exchange(id=name, method="POST", path="/", started=0.0, body=b"x" * size))
    assert kept.recorder.counters.dropped == 1
    async with kept.running():
        await kept.recorder.drain()
        await kept.offer("b", size=900)
        await kept.offer("c", size=900)

    assert kept.archive.ids == ["huge", "b", "c"]


async def test_what_the_store_cannot_take_is_spilled_and_replayed(tmp_path: Path) -> None:
    """With the next that it takes; no exchange is stored twice."""
    kept = Kept(tmp_path)
    async with kept.running():
        kept.archive.broken = True
        await kept.offer("a", "b")
        assert (kept.recorder.counters.spilled, kept.recorder.problem) == (2, "broken")
        kept.archive.broken = False
        kept.clock.now += module.RETRY_SECONDS
        await kept.offer("c")

    assert kept.archive.ids == ["a", "b", "c"]
    assert (kept.recorder.counters.replayed, kept.recorder.counters.recorded, kept.recorder.problem) == (2, 1, None)


async def test_a_store_that_failed_is_asked_again_after_a_while(tmp_path: Path) -> None:
    """Not with each exchange, and not later for all that come meanwhile."""
    kept = Kept(tmp_path)
    async with kept.running():
        kept.archive.broken = True
        for k in range(6):
            await kept.offer(f"{k}")
            kept.clock.now += module.RETRY_SECONDS / 4
        assert kept.archive.asked == 2
        kept.archive.broken = False
        kept.clock.now += module.RETRY_SECONDS
        await kept.offer("last")

    assert kept.archive.ids == [*"012345", "last"]


async def test_where_nothing_can_be_written_drops_are_counted(tmp_path: Path) -> None:
    """With both reasons."""
    kept = Kept(tmp_path)
    (tmp_path / "spill").write_text("in the way")
    async with kept.running():
        kept.archive.broken = True
        await kept.offer("a")

    assert (kept.recorder.counters.dropped, kept.recorder.counters.spilled) == (1, 0)
    assert str(kept.recorder.problem).startswith("broken; and the spill file: ")


async def test_a_fault_of_the_store_ends_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it was about is dropped and counted."""
    kept = Kept(tmp_path)
    async with kept.running():
        with monkeypatch.context() as patch:
            patch.setattr(kept.archive, "append", None)
            await kept.offer("a", "b")
        await kept.offer("c")

    assert kept.archive.ids == ["c"]
    assert kept.recorder.counters.dropped == 2


async def test_broken_prefixes_and_late_commits_are_counted(tmp_path: Path) -> None:
    """Also of exchanges that find no room."""
    kept = Kept(tmp_path, limit=1)
    for _ in range(2):
        kept.recorder.offer(
            Exchange(id="a", method="POST", path="/", started=0.0, prefix_whole=False, late_commit=True)
        )

    assert (kept.recorder.counters.broken_prefixes, kept.recorder.counters.late_commits) == (2, 2)
