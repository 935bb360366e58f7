"""From the end of an exchange to the archive: a bounded queue, one worker, a spill file for what the store cannot take."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import structlog

from gateway.exchange import Exchange
from gateway.ledger import Ledger
from memory import Archive, ExchangeRecord, Spill, StoreError

BATCH = 50
GATHER_SECONDS = 0.05
"""How long a batch waits for company: a transaction costs as much as all that one exchange puts in."""
WAITING_BYTES = 64 << 20
"""Bodies and answers that may wait to be written."""
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


class Recorder:
    """Takes closed exchanges without waiting, and sees to it that they are stored."""

    def __init__(self, ledger: Ledger, archive: Archive, spill: Spill, limit: int, clock: Callable[[], float]) -> None:
        self._ledger = ledger
        self._archive = archive
        self._spill = spill
        self._clock = clock
        self._queue: asyncio.Queue[Exchange | None] = asyncio.Queue(limit)
        self._waiting = 0
        self._next_try = 0.0
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

    async def drain(self) -> None:
        """Wait until all that was offered is stored or spilled."""
        await self._queue.join()

    async def _take(self) -> tuple[list[Exchange], bool]:
        got = [await self._queue.get()]
        if got[0] is not None:
            await asyncio.sleep(GATHER_SECONDS)
        while len(got) < BATCH and not self._queue.empty():
            got.append(self._queue.get_nowait())
        return [e for e in got if e is not None], None in got

    async def _record(self, batch: list[Exchange]) -> None:
        try:
            records = await asyncio.to_thread(self._write_up, batch)
            await self._store(records)
        except Exception:  # a fault in one batch must not end the recording of all later ones
            self._lose(len(batch))
            self.problem = "exchanges were dropped; the log says why"
            self._log.exception("exchanges dropped", count=len(batch))
        finally:
            for exchange in batch:
                self._waiting -= len(exchange.body) + exchange.reply_size
                self._queue.task_done()

    def _write_up(self, batch: list[Exchange]) -> list[ExchangeRecord]:
        records = []
        for exchange in batch:
            try:
                records.append(self._ledger.write_up(exchange))
            except Exception:  # one exchange that cannot be written up must not cost the others
                self._lose(1)
                self._log.exception("exchange not written up", request=exchange.id)
        return records

    async def _store(self, records: Sequence[ExchangeRecord]) -> None:
        for record in records:
            self._log.info("exchange", **_line(record))
        if self._clock() < self._next_try:  # asked for too often, a store that is locked would not come back
            await asyncio.to_thread(self._put_aside, records, self.problem or "the store failed a moment ago")
            return
        try:
            await self._replay()
            await self._archive.append(records)
            self.counters.recorded += len(records)
            self.problem = None
        except StoreError as error:
            self._next_try = self._clock() + RETRY_SECONDS
            await asyncio.to_thread(self._put_aside, records, str(error))

    def _put_aside(self, records: Sequence[ExchangeRecord], why: str) -> None:
        self.problem = why
        for record in records:
            try:
                self._spill.append(record)
                self.counters.spilled += 1
            except OSError as error:
                self._lose(1)
                self.problem = f"{why}; and the spill file: {error}"
                self._log.error("exchange dropped", request=record.id, reason=self.problem)

    def _lose(self, exchanges: int) -> None:
        self.counters.dropped += exchanges
        self._ledger.give_again()

    async def _replay(self) -> None:
        """Give the store what was spilled, this time or before a restart."""
        self.counters.replayed += await self._spill.replay(self._archive.append)


def _line(record: ExchangeRecord) -> dict[str, object]:
    """What the log says of an exchange: names and numbers, no text of anybody's."""
    accounts = record.accounts
    return {
        "request": record.id,
        "session": record.session,
        "path": record.path,
        "model": record.model,
        "upstream": record.upstream,
        "status": record.status,
        "outcome": record.outcome,
        "seconds": round(record.ended - record.started, 4),
        "tokens": accounts.get("raw_tokens"),
        "forwarded": accounts.get("forwarded_tokens"),
        "rewritten": len(record.rewrites),
    }
