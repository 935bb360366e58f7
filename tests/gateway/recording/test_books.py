"""From entries to records: what the store takes, what is put aside, what is lost and counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.exchange import Exchange
from gateway.recording import books as module
from gateway.recording.books import Bookkeeper
from gateway.recording.entries import Entry, Head, Report
from gateway.recording.handover import Handover
from gateway.recording.ledger import Lacking
from memory import ExchangeRecord, LeftOff, Spill, StoreError


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        """The time."""
        return self.now


class Ledger:
    """Writes up what it is given; not what is called bad, and not what is called torn."""

    forgotten = 0

    def forget(self) -> None:
        """Note that a record was lost."""
        self.forgotten += 1

    def __init__(self) -> None:
        self.left_off: list[LeftOff | None] = []

    def knows(self, session: str) -> bool:
        """The session is one that was met before."""
        return session == "met"

    def write_up(self, entry: Entry, left_off: LeftOff | None = None) -> ExchangeRecord:
        """The record as it stands in the entry."""
        self.left_off.append(left_off)
        if entry.record.id == "bad":
            raise ValueError("cannot be written up")
        if entry.record.id == "torn":
            raise Lacking
        return entry.record


class Archive:
    """Keeps records, unless it is broken."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.broken = False
        self.asked = 0

    async def left_off(self, session: str, tenant: str) -> LeftOff | None:
        """Knows where all but new sessions stood."""
        if self.broken:
            raise StoreError("broken")
        return None if session == "new" else LeftOff(model=tenant, started=1.0, messages=frozenset({session}))

    async def append(self, records: Sequence[ExchangeRecord]) -> None:
        """Take all or none."""
        self.asked += 1
        if self.broken:
            raise StoreError("broken")
        self.ids += [record.id for record in records]


class Kept:
    """A bookkeeper with its surroundings."""

    def __init__(self, folder: Path) -> None:
        self.ledger, self.archive, self.clock = Ledger(), Archive(), Clock()
        self.books = Bookkeeper(
            self.ledger,  # type: ignore[arg-type]
            self.archive,
            Spill(folder / "spill"),
            self.clock,
            self.archive.left_off,
        )

    async def take(self, *ids: str) -> Report:
        """A batch of exchanges with these names."""
        handover = Handover()
        return await self.books.take(
            [handover.entry(Exchange(id=name, method="POST", path="/", started=0.0, ended=1.5)) for name in ids]
        )


async def test_where_a_session_stood_is_asked_once(tmp_path: Path) -> None:
    """Only of what the ledger does not know; a store that cannot say it holds nothing up."""
    kept = Kept(tmp_path)
    (plain,) = [Handover().entry(Exchange(id="a", method="POST", path="/", started=0.0))]
    head = Head(name=b"h", content=b"{}")
    entries = [
        replace(plain, head=head, record=replace(plain.record, session=session, tenant="t"))
        for session in ("gone", "met", "new")
    ]
    await kept.books.take([*entries, plain])
    gone = LeftOff(model="t", started=1.0, messages=frozenset({"gone"}))
    assert kept.ledger.left_off == [gone, None, None, None]

    kept.archive.broken = True
    assert (await kept.books.take(entries)).spilled == 3


async def test_what_is_taken_is_stored_and_said_in_a_line(tmp_path: Path) -> None:
    """In order; the line holds names and numbers."""
    kept = Kept(tmp_path)
    report = await kept.take("a", "b")

    assert kept.archive.ids == ["a", "b"]
    assert (report.recorded, report.problem, report.lacking, report.faults) == (2, None, (), ())
    assert [(line["request"], line["seconds"]) for line in report.lines] == [("a", 1.5), ("b", 1.5)]


async def test_one_that_cannot_be_written_up_costs_only_itself(tmp_path: Path) -> None:
    """It is counted, its reason is told, and what came with it is asked for again."""
    kept = Kept(tmp_path)
    report = await kept.take("a", "bad", "b")

    assert kept.archive.ids == ["a", "b"]
    assert (report.recorded, report.dropped) == (2, 1)
    assert report.faults[0][0] == "bad"
    assert "cannot be written up" in report.faults[0][1]
    assert (report.problem, kept.ledger.forgotten) == ("exchanges were dropped; the log says why", 1)


async def test_one_that_lacks_something_is_asked_for_whole(tmp_path: Path) -> None:
    """It is neither stored nor lost."""
    kept = Kept(tmp_path)
    report = await kept.take("a", "torn", "b")

    assert kept.archive.ids == ["a", "b"]
    assert (report.lacking, report.dropped, report.problem) == ((1,), 0, None)


async def test_what_the_store_cannot_take_is_spilled_and_replayed(tmp_path: Path) -> None:
    """With the next that it takes; no exchange is stored twice."""
    kept = Kept(tmp_path)
    kept.archive.broken = True
    report = await kept.take("a", "b")
    assert (report.spilled, report.recorded, report.problem) == (2, 0, "broken")
    kept.archive.broken = False
    kept.clock.now += module.RETRY_SECONDS
    report = await kept.take("c")

    assert kept.archive.ids == ["a", "b", "c"]
    assert (report.replayed, report.recorded, report.problem) == (2, 1, None)


async def test_a_store_that_failed_is_asked_again_after_a_while(tmp_path: Path) -> None:
    """Not with each batch, and not later for all that come meanwhile."""
    kept = Kept(tmp_path)
    kept.archive.broken = True
    for k in range(6):
        await kept.take(f"{k}")
        kept.clock.now += module.RETRY_SECONDS / 4
    assert kept.archive.asked == 2
    kept.archive.broken = False
    kept.clock.now += module.RETRY_SECONDS
    await kept.take("last")

    assert kept.archive.ids == [*"012345", "last"]


async def test_where_nothing_can_be_written_drops_are_counted(tmp_path: Path) -> None:
    """With both reasons."""
    kept = Kept(tmp_path)
    (tmp_path / "spill").write_text("in the way")
    kept.archive.broken = True
    report = await kept.take("a")

    assert (report.dropped, report.spilled) == (1, 0)
    assert str(report.problem).startswith("broken; and the spill file: ")
    assert kept.ledger.forgotten == 1


async def test_a_fault_of_the_store_ends_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it was about is dropped and counted."""
    kept = Kept(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(kept.archive, "append", None)
        report = await kept.take("a", "b")
    await kept.take("c")

    assert kept.archive.ids == ["c"]
    assert report.dropped == 2
