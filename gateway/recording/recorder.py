"""From the end of an exchange to the books: a bounded queue, batches, and what is done when the books are lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import structlog

from gateway.exchange import Exchange
from gateway.processes import ProcessLost
from gateway.recording.books import Books
from gateway.recording.entries import Report
from gateway.recording.handover import Handover

BATCH = 100
GATHER_SECONDS = 0.25
"""How long a batch waits for company: a transaction costs as much as all that one exchange puts in."""
WAITING_BYTES = 64 << 20
"""Bodies and answers that may wait to be written."""
LOSSES = 3
"""So many times in a row the worker is started again at once; then the reserve takes over for a while."""
RETRY_SECONDS = 5.0


@dataclass(slots=True)
class Counters:
    """What became of the exchanges, since the start."""

    recorded: int = 0
    spilled: int = 0
    replayed: int = 0
    dropped: int = 0
    broken_prefixes: int = 0
    late_commits: int = 0
    restarts: int = 0
    """How often the worker process was lost."""


class Recorder:
    """Takes closed exchanges without waiting, and sees to it that they are stored."""

    def __init__(self, books: Books, reserve: Books, limit: int, clock: Callable[[], float]) -> None:
        """`reserve` takes what `books` were lost over twice."""
        self._books = books
        self._reserve = reserve
        self._clock = clock
        self._handover = Handover()
        self._queue: asyncio.Queue[Exchange | None] = asyncio.Queue(limit)
        self._waiting = 0
        self._losses = 0
        self._next_try = 0.0
        self._enough = asyncio.Event()
        self._drainers = 0
        self._log = structlog.get_logger("taco")
        self.counters = Counters()
        self.problem: str | None = None

    def offer(self, exchange: Exchange) -> None:
        """Take an exchange. Never waits, never raises: an exchange that finds no room is dropped and counted."""
        size = len(exchange.body) + exchange.reply_size
        self.counters.broken_prefixes += not exchange.prefix_whole
        self.counters.late_commits += exchange.late_commit
        if self._queue.full() or (self._waiting + size > WAITING_BYTES and self._waiting > 0):
            self.counters.dropped += 1
            self.problem = "the recorder cannot keep up: exchanges were dropped"
            return
        self._waiting += size
        self._queue.put_nowait(exchange)
        if self._queue.qsize() >= BATCH:
            self._enough.set()

    async def run(self) -> None:
        """Write what is offered until `stop`; then what is left."""
        while True:
            batch, stopped = await self._take()
            if batch:
                await self._record(batch)
            if stopped:
                return

    def stop(self) -> None:
        """Ask `run` to end once the queue is empty."""
        try:
            self._queue.put_nowait(None)
        except asyncio.QueueFull:
            self.counters.dropped += 1
            self._queue.get_nowait()
            self._queue.put_nowait(None)
        self._drainers += 1  # nobody gathers any more
        self._enough.set()

    async def drain(self) -> None:
        """Wait until all that was offered is stored or spilled."""
        self._drainers += 1
        self._enough.set()
        try:
            await self._queue.join()
        finally:
            self._drainers -= 1

    async def _take(self) -> tuple[list[Exchange], bool]:
        got = [await self._queue.get()]
        if not self._drainers and self._queue.qsize() < BATCH:
            self._enough.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(GATHER_SECONDS):
                    await self._enough.wait()
        while len(got) < BATCH and not self._queue.empty():
            got.append(self._queue.get_nowait())
        return [e for e in got if e is not None], None in got

    async def _record(self, batch: list[Exchange]) -> None:
        try:
            await self._deliver(batch)
        except Exception:  # a fault in one batch must not end the recording of all later ones
            self._lose(batch)
        finally:
            for exchange in batch:
                self._waiting -= len(exchange.body) + exchange.reply_size
                self._queue.task_done()

    async def _deliver(self, batch: Sequence[Exchange]) -> None:
        """Give the books a batch; if they are lost over it, one exchange after the other, and to the reserve what is left."""
        if await self._hand_over(batch):
            return
        for exchange in batch:
            if not await self._hand_over([exchange]):
                await self._put_aside(exchange)

    async def _put_aside(self, exchange: Exchange) -> None:
        problem = self.problem
        try:
            self._note(await self._reserve.take([Handover().entry(exchange)]))
        except Exception:  # it must not cost those behind it
            self._lose([exchange])
        self.problem = self.problem or problem

    async def _hand_over(self, batch: Sequence[Exchange]) -> bool:
        """Give the books a batch, whole where they say that they lack something; `False` if they are lost."""
        if self._clock() < self._next_try:
            return False
        try:
            lacking = await self._take_down(batch)
            if lacking:
                self._handover.forget()
                await self._take_down(lacking)
        except ProcessLost as error:
            self._lament(error)
            return False
        self._losses = 0
        return True

    async def _take_down(self, batch: Sequence[Exchange]) -> list[Exchange]:
        """Those of the batch that the books lack something of."""
        entries, taken = [], []
        for exchange in batch:
            try:
                entries.append(self._handover.entry(exchange))
                taken.append(exchange)
            except Exception:  # one that cannot be handed over must not cost the others
                self._lose([exchange])
        report = await self._books.take(entries)
        self._note(report)
        return [taken[place] for place in report.lacking]

    def _note(self, report: Report) -> None:
        self.counters.recorded += report.recorded
        self.counters.spilled += report.spilled
        self.counters.replayed += report.replayed
        self.counters.dropped += report.dropped
        self.problem = report.problem
        for line in report.lines:
            self._log.info("exchange", **line)
        for request, why in report.faults:
            self._log.error("exchange dropped", request=request, reason=why)

    def _lament(self, error: ProcessLost) -> None:
        self._handover.forget()
        self.counters.restarts += 1
        self._losses += 1
        if self._losses >= LOSSES:
            self._next_try = self._clock() + RETRY_SECONDS
        self.problem = f"the worker process was lost: {error}"
        self._log.error("worker lost", reason=str(error))

    def _lose(self, batch: Sequence[Exchange]) -> None:
        self.counters.dropped += len(batch)
        self.problem = "exchanges were dropped; the log says why"
        self._handover.forget()
        self._log.exception("exchanges dropped", count=len(batch))
