"""The rule pools of all tenants, as the store's events make them; what other processes and the command line add is followed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

import structlog

from memory import PoolEvents, StoreError
from memory.pool import PAGE
from rules_engine import Rule, RuleError
from rules_engine.evolution.pool import EMPTY, Numbers, Pool, PoolEvent, dump_event, fold, load_event
from rules_engine.evolution.snapshots import dump_pool, fingerprint, load_pool

SHARED = ""
"""The tenant whose pool all others stand on."""
WORTH = 5000
"""Events that a start should not have to fold again: after so many a snapshot is made."""


class Pools:
    """Each tenant's pool stands on the shared one, and that on the rules that are built in."""

    def __init__(self, store: PoolEvents | None, built_in: Iterable[Rule], numbers: Numbers) -> None:
        """Without a store there are only the rules that are built in."""
        self._store = store
        self._numbers = numbers
        rules = tuple(built_in)
        self._ground = fingerprint(numbers, rules)
        self._shared = fold(replace(EMPTY, numbers=numbers), [PoolEvent(name="imported", rule=rule) for rule in rules])
        self.tenants: dict[str, Pool] = {}
        """Those that have events of their own."""
        self._seq = self._kept = 0
        """Places of the event that was heeded last, and of the last one that the snapshot knows."""
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
        if self._store is None:
            return
        async with self._reading:  # two that read at once would heed the same events twice
            if not self._seq:
                await self._begin(self._store)
            while rows := await self._store.read(self._seq):
                self._heed([event for row in rows if (event := self._read(row.event)) is not None])
                self._seq = rows[-1].seq
                if len(rows) < PAGE:
                    break
            if self._seq - self._kept >= WORTH:
                await self._keep(self._store)

    async def _begin(self, store: PoolEvents) -> None:
        """Begin with the snapshot, if there is one, and it stands on the same numbers and rules."""
        found = await store.read_snapshot()
        try:
            if found is not None and (kept := json.loads(found[1]))["ground"] == self._ground:
                pools = {tenant: load_pool(text, self._numbers) for tenant, text in kept["pools"].items()}
                shared, unreadable = pools.pop(SHARED), int(kept["unreadable"])
                self._shared, self.tenants, self.unreadable = shared, pools, unreadable
                self._seq = self._kept = found[0]
        except (RuleError, ValueError, KeyError, TypeError, AttributeError) as error:
            structlog.get_logger("taco").warning("the snapshot of the pools is not used", reason=repr(error))

    async def _keep(self, store: PoolEvents) -> None:
        """Make a snapshot; without it the next start takes longer, and that is all."""
        try:
            await store.put_snapshot(self._seq, await asyncio.to_thread(self._dump))
        except StoreError as error:
            structlog.get_logger("taco").warning("the pools have no new snapshot", reason=str(error))
        self._kept = self._seq

    def _dump(self) -> str:
        pools = {SHARED: self._shared, **self.tenants}
        texts = {tenant: dump_pool(pool) for tenant, pool in pools.items()}
        return json.dumps({"ground": self._ground, "unreadable": self.unreadable, "pools": texts})

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
