"""Pools follow the store's events, whoever wrote them."""

from __future__ import annotations

import asyncio
import io
import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.evolving import pools as module
from gateway.evolving.pools import SHARED, Pools
from memory import PoolEvents
from rules_engine import Rule
from rules_engine.evolution.pool import EMPTY, Numbers, Pool, PoolEvent, fold, load_event
from rules_engine.evolution.snapshots import fingerprint
from rules_engine.seeds import SEEDS

NUMBERS = Numbers()


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


RULE = SEEDS[0]


async def grown(path: Path, numbers: Numbers = NUMBERS, rules: Sequence[Rule] = SEEDS) -> Pools:
    """The pools of a file, as a start comes to them."""
    store = await PoolEvents.open(path)
    pools = Pools(store, rules, numbers)
    await pools.refresh()
    await store.aclose()
    return pools


@pytest.fixture
async def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with some history, and a snapshot of most of it."""
    monkeypatch.setattr(module, "WORTH", 10)
    store = await PoolEvents.open(tmp_path / "pool.sqlite")
    pools = Pools(store, SEEDS, NUMBERS)
    for at in range(13):
        for tenant in (SHARED, "t"):
            about = {"tenant": tenant, "session": f"s{at}", "time": float(at)}
            used = PoolEvent(name="written_back", ref=(RULE.id, 1), data={"applied": 2, "place": "p"}, **about)  # type: ignore[arg-type]
            await pools.append([used, PoolEvent(name="ended", **about)])  # type: ignore[arg-type]
    await store.append([("", "no event")])
    await pools.refresh()
    await store.aclose()
    return tmp_path / "pool.sqlite"


def folded(path: Path, numbers: Numbers, rules: Sequence[Rule]) -> dict[str, Pool]:
    """What all events come to, one after the other."""
    with closing(sqlite3.connect(path)) as file:
        texts = [text for (text,) in file.execute("SELECT event FROM events WHERE event <> 'no event' ORDER BY seq")]
    ground = [PoolEvent(name="imported", rule=rule) for rule in rules]
    events = [*ground, *map(load_event, texts)]
    start = replace(EMPTY, numbers=numbers)
    shared = fold(start, [event for event in events if event.tenant == SHARED])
    return {SHARED: shared, "t": fold(start, events)}


@pytest.mark.parametrize(
    ("numbers", "rules", "used"),
    [(NUMBERS, SEEDS, True), (Numbers(outcomes=5), SEEDS, False), (NUMBERS, SEEDS[:2], False)],
    ids=["the same ground", "other numbers", "other rules that are built in"],
)
async def test_a_start_begins_with_the_snapshot(
    numbers: Numbers, rules: Sequence[Rule], used: bool, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And comes to what all events come to; where it stands on another ground, from the events themselves."""
    read: list[str] = []
    load = module.load_event
    monkeypatch.setattr(module, "load_event", lambda text: read.append(text) or load(text))
    pools = await grown(path, numbers, rules)

    assert (len(read) < 20) is used
    assert {tenant: pools.of(tenant) for tenant in (SHARED, "t")} == folded(path, numbers, rules)
    assert pools.unreadable == 1


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"ground": GROUND, "pools": {}, "unreadable": 0}',
    '{"ground": GROUND, "pools": {"": "[0"}, "unreadable": 0}', '{"ground": GROUND, "pools": {"": "[9, [], []]"}}'])  # fmt: skip
async def test_a_snapshot_that_is_damaged_is_passed_over(text: str, path: Path, log: io.StringIO) -> None:
    """The events say the same."""
    with closing(sqlite3.connect(path)) as file, file:
        ground = json.dumps(fingerprint(NUMBERS, SEEDS))
        file.execute("UPDATE snapshot SET text = ?", (text.replace("GROUND", ground),))
    pools = await grown(path)

    assert pools.of(SHARED) == folded(path, NUMBERS, SEEDS)[SHARED]
    assert "the snapshot of the pools is not used" in log.getvalue()


async def test_a_snapshot_that_cannot_be_kept_costs_nothing_else(path: Path, log: io.StringIO) -> None:
    """The events are stored and heeded."""
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("DROP TABLE snapshot")
        file.execute("CREATE TABLE snapshot (id, seq, text, CHECK (id = 1))")
    pools = await grown(path)

    assert pools.of(SHARED).ended == 13
    assert "the pools have no new snapshot" in log.getvalue()
