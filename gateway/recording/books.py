"""Where entries become records: written up, stored, or spilled where the store cannot take them."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from gateway.recording.entries import Entry, Report
from gateway.recording.ledger import Lacking, Ledger
from memory import ExchangeRecord, LeftOff, Spill, StoreError, Takes

RETRY_SECONDS = 5.0


FindLeftOff = Callable[[str, str], Awaitable[LeftOff | None]]
"""(session, tenant) → where the archive has it left off."""


class Books(Protocol):
    """Takes batches of entries, one after the other."""

    async def take(self, entries: Sequence[Entry]) -> Report:
        """Record them; what cannot be is in the report."""


@dataclass(slots=True)
class _Batch:
    recorded: int = 0
    spilled: int = 0
    replayed: int = 0
    dropped: int = 0
    lacking: list[int] = field(default_factory=list)
    problem: str | None = None
    faults: list[tuple[str, str]] = field(default_factory=list)


class Bookkeeper:
    """Books in this process."""

    def __init__(
        self, ledger: Ledger, archive: Takes, spill: Spill, clock: Callable[[], float], left_off: FindLeftOff
    ) -> None:
        self._ledger = ledger
        self._find_left_off = left_off
        self._archive = archive
        self._spill = spill
        self._clock = clock
        self._next_try = 0.0
        self._problem = ""

    async def take(self, entries: Sequence[Entry]) -> Report:
        """Record them, all in one transaction."""
        batch = _Batch()
        left_off = await self._left_off(entries)
        records = await asyncio.to_thread(self._write_up, entries, left_off, batch)
        await self._store(records, batch)
        return Report(
            recorded=batch.recorded,
            spilled=batch.spilled,
            replayed=batch.replayed,
            dropped=batch.dropped,
            lacking=tuple(batch.lacking),
            problem=batch.problem,
            lines=tuple(map(_line, records)),
            faults=tuple(batch.faults),
        )

    async def _left_off(self, entries: Sequence[Entry]) -> dict[str, LeftOff]:
        """Where sessions stood that the ledger does not know: after a restart they go on."""
        found: dict[str, LeftOff] = {}
        if self._clock() < self._next_try:
            return found
        sessions = {(e.record.session, e.record.tenant) for e in entries if e.head and not e.same}
        for session, tenant in sessions:
            if not self._ledger.knows(session):
                try:
                    left_off = await self._find_left_off(session, tenant)
                except StoreError:
                    return found  # what is cached is reckoned as little as before
                if left_off is not None:
                    found[session] = left_off
        return found

    def _write_up(
        self, entries: Sequence[Entry], left_off: Mapping[str, LeftOff], batch: _Batch
    ) -> list[ExchangeRecord]:
        records = []
        for place, entry in enumerate(entries):
            try:
                records.append(self._ledger.write_up(entry, left_off.get(entry.record.session)))
            except Lacking:
                batch.lacking.append(place)
            except Exception:  # one that cannot be written up must not cost the others
                self._lose(entry.record.id, traceback.format_exc(), batch)
        return records

    async def _store(self, records: Sequence[ExchangeRecord], batch: _Batch) -> None:
        if self._clock() < self._next_try:  # asked for too often, a store that is locked would not come back
            await asyncio.to_thread(self._put_aside, records, self._problem, batch)
            return
        try:
            batch.replayed += await self._spill.replay(self._archive.append)
            await self._archive.append(records)
            batch.recorded += len(records)
        except StoreError as error:
            self._next_try = self._clock() + RETRY_SECONDS
            await asyncio.to_thread(self._put_aside, records, str(error), batch)
        except Exception:  # a fault in one batch must not end the recording of all later ones
            for record in records:
                self._lose(record.id, traceback.format_exc(), batch)

    def _put_aside(self, records: Sequence[ExchangeRecord], why: str, batch: _Batch) -> None:
        self._problem = batch.problem = why
        for record in records:
            try:
                self._spill.append(record)
                batch.spilled += 1
            except OSError as error:
                self._lose(record.id, f"{why}; and the spill file: {error}", batch)
                batch.problem = f"{why}; and the spill file: {error}"

    def _lose(self, request: str, why: str, batch: _Batch) -> None:
        batch.dropped += 1
        batch.faults.append((request, why))
        batch.problem = batch.problem or "exchanges were dropped; the log says why"
        self._ledger.forget()


def _line(record: ExchangeRecord) -> dict[str, object]:
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
