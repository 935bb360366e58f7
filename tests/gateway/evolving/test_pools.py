"""Pools follow the store's events, whoever wrote them."""

from __future__ import annotations

import asyncio
from pathlib import Path

from gateway.evolving.pools import SHARED, Pools
from memory import PoolEvents
from rules_engine.evolution.pool import Numbers, PoolEvent


async def test_events_that_many_wait_for_count_once(tmp_path: Path) -> None:
    """A session, a study and a proposer add at once, while others look for news."""
    store = await PoolEvents.open(tmp_path / "pool.sqlite")
    pools = Pools(store, (), Numbers())
    ended = [PoolEvent(name="ended", tenant=tenant, session=str(at)) for at in range(5) for tenant in (SHARED, "t")]
    await asyncio.gather(*(pools.append([event]) for event in ended), *(pools.refresh() for _ in range(5)))
    await store.aclose()
    assert pools.of(SHARED).ended == 5
    assert pools.of("t").ended == 10


async def test_nothing_to_add_is_nothing_to_read(tmp_path: Path) -> None:
    """An exchange without news costs the store no question."""
    store = await PoolEvents.open(tmp_path / "pool.sqlite")
    pools = Pools(store, (), Numbers())
    await store.aclose()
    await pools.append([])
