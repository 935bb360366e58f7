"""The rule pools of all tenants, as the store's events make them; what other processes and the command line add is followed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace

import structlog

from memory import PoolEvents
from memory.pool import PAGE
from rules_engine import Rule, RuleError
from rules_engine.evolution.pool import EMPTY, Numbers, Pool, PoolEvent, dump_event, fold, load_event

SHARED = ""
"""The tenant whose pool all others stand on."""


class Pools:
    """Each tenant's pool stands on the shared one, and that on the rules that are built in."""

    def __init__(self, store: PoolEvents | None, built_in: Iterable[Rule], numbers: Numbers) -> None:
        """Without a store there are only the rules that are built in."""
        self._store = store
        self._shared = fold(
            replace(EMPTY, numbers=numbers), [PoolEvent(name="imported", rule=rule) for rule in built_in]
        )
        self.tenants: dict[str, Pool] = {}
        """Those that have events of their own."""
        self._seq = 0
        self._reading = asyncio.Lock()
        self.unreadable = 0
        """Events that were passed over: damaged, or from a newer version."""

    def of(self, tenant: str) -> Pool:
        """The pool of a tenant."""
        return self.tenants.get(tenant, self._shared)

    async def append(self, events: Sequence[PoolEvent]) -> None:
        """Store events, then heed them. Raises `StoreError`; then nothing has happened."""
        if not events:
            return
        assert self._store is not None
        await self._store.append([(event.tenant, dump_event(event)) for event in events])
        await self.refresh()

    async def refresh(self) -> None:
        """Heed what was stored since the last time, by whomever. Raises `StoreError`."""
        async with self._reading:  # two that read at once would heed the same events twice
            while self._store and (rows := await self._store.read(self._seq)):
                self._heed([event for row in rows if (event := self._read(row.event)) is not None])
                self._seq = rows[-1].seq
                if len(rows) < PAGE:
                    break

    def _read(self, text: str) -> PoolEvent | None:
        try:
            return load_event(text)
        except RuleError as error:
            self.unreadable += 1
            structlog.get_logger("taco").warning("a pool event is passed over", reason=str(error))
            return None

    def _heed(self, events: Sequence[PoolEvent]) -> None:
        shared = [event for event in events if event.tenant == SHARED]
        for tenant in {event.tenant for event in events} - {SHARED}:
            self.tenants.setdefault(tenant, self._shared)
        self._shared = fold(self._shared, shared)
        for tenant, pool in self.tenants.items():
            self.tenants[tenant] = fold(pool, [event for event in events if event.tenant in (SHARED, tenant)])
