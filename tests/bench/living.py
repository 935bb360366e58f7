"""Sessions served by a gateway that evolves: its own `Evolution` and `ModelProposer` over a pool in memory, many at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from gateway.config import Proposer
from gateway.evolving.asking import Ask
from gateway.evolving.budget import Budget
from gateway.evolving.evolution import Evolution
from gateway.evolving.pools import Pools
from gateway.evolving.proposer import Links, ModelProposer
from gateway.evolving.study import events_of, sample_of
from gateway.exchange import Exchange
from memory.pool import EventRow
from rules_engine import Rule, Sample, Settings
from rules_engine.evolution.admission import Verdict, admit
from rules_engine.evolution.events import PoolEvent, content_key, load_event
from rules_engine.evolution.lessons import learn
from rules_engine.evolution.numbers import Numbers
from rules_engine.evolution.pool import Pool, retention
from tests.bench.passage import Passed, session_id, take
from tests.bench.recorded import Recorded, samples_of
from tests.bench.scripted import Script

SETTLED = 3
"""Batches on end over the line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How a gateway lives with its pool."""

    rules: tuple[Rule, ...]
    """That it begins with, live."""
    numbers: Numbers = field(default_factory=Numbers)
    miner: bool = False
    model: bool = False
    frozen: bool = False
    """Nothing that a session finds out outlives it."""


@dataclass(slots=True)
class Lived:
    """What became of it."""

    live: int = 0
    """Rules that are live at the end."""
    made: int = 0
    """Rules that it found itself and admitted."""
    complaints: int = 0
    tokens: int = 0
    """Of the model that proposes."""
    tops: list[tuple[str, ...]] = field(default_factory=list)
    """The contents of the top after each batch."""

    def settled(self, k: int, line: float) -> int | None:
        """The batch from which on Retention stays at the line or over for `SETTLED` batches."""
        reached = [(retention(a, b, k) or 0) >= line for a, b in pairwise(self.tops)]
        return next((at + 2 for at in range(len(reached) - SETTLED + 1) if all(reached[at : at + SETTLED])), None)


class Store:
    """Pool events in memory."""

    def __init__(self) -> None:
        self.rows: list[EventRow] = []

    async def append(self, events: Sequence[tuple[str, str]]) -> None:
        """Add events."""
        self.rows += [EventRow(len(self.rows) + at, *event) for at, event in enumerate(events, 1)]

    async def read(self, after: int = 0) -> list[EventRow]:
        """Those after a place."""
        return self.rows[after:]

    async def read_snapshot(self) -> None:
        """There is none: what is in memory need not be read again."""

    async def put_snapshot(self, seq: int, text: str) -> None:
        """Keep none."""


class Forgetful(Store):
    """Takes events and keeps none."""

    async def append(self, events: Sequence[tuple[str, str]]) -> None:
        """Forget them."""


async def live(sessions: Sequence[Recorded], way: Way, done: Callable[[Passed], None]) -> Lived:
    """Serve the sessions, as many at once as a batch has, in order; `done` is told of each."""
    with TemporaryDirectory(prefix="taco-bench-") as folder:
        world = World(way, Path(folder))
        for at in range(0, len(sessions), way.numbers.batch_tasks):
            group = sessions[at : at + way.numbers.batch_tasks]
            for passed in await asyncio.gather(*(world.serve(one) for one in group)):
                done(passed)
        return world.tell()


class World:
    """One gateway, as far as evolution goes."""

    def __init__(self, way: Way, folder: Path) -> None:
        self._way, self._folder = way, folder
        self._store = Forgetful() if way.frozen else Store()
        self._pools = Pools(self._store, way.rules, way.numbers)  # type: ignore[arg-type]
        self._heard: list[Sample] = []
        self._script = Script()
        self._now = time.time()
        self._proposer = self._propose()
        self._evolution = Evolution(
            self._pools, Settings(), way.numbers, self._study, self._proposer, self._clock, apart=False
        )

    async def serve(self, recorded: Recorded) -> Passed:
        """One session, from its first request to its end."""
        passed = await take(recorded, self._evolution.ruleset, self._hear, self._folder)
        self._heard += samples_of([recorded])
        session = self._evolution.session(session_id(recorded))
        if session is not None:
            await self._evolution._end(session)
            await self._proposer._look()
        await self._evolution.drain()
        return passed

    def tell(self) -> Lived:
        """What became of it all."""
        events = [load_event(row.event) for row in self._store.rows]
        pools = [*self._pools.tenants.values()] or [self._pools.of("")]
        return Lived(
            live=sum(entry.stage == "live" for pool in pools for entry in pool.entries.values()),
            made=sum(event.name == "admitted" for event in events),
            complaints=sum(event.name == "complained" for event in events),
            tokens=self._script.tokens,
            tops=[_contents(event) for event in events if event.name == "batch"],
        )

    async def _hear(self, exchange: Exchange) -> None:
        await self._evolution._hear(exchange)
        # what the budget allows is asked before the next request, so that a run is like the next
        await self._proposer._look()
        # nor does a plan wait for a turn of its own: nothing else is under way
        while not self._evolution._queue.empty():
            work = self._evolution._queue.get_nowait()
            await work()
            self._evolution._queue.task_done()

    async def _study(self, pool: Pool, tenant: str, now: float) -> tuple[PoolEvent, ...]:
        if not self._way.miner:
            return ()
        verdicts = await asyncio.to_thread(learn, lambda: tuple(self._heard))
        known = {entry.content for entry in pool.entries.values()}
        fresh = [verdict for verdict in verdicts if verdict.admitted and content_key(verdict.rule) not in known]
        return tuple(event for verdict in fresh for event in events_of(verdict, pool, tenant, now))

    def _propose(self) -> ModelProposer:
        settings = Proposer(model="scripted" if self._way.model else "", daily_tokens=10**12)
        links = Links(
            model=self._script.ask,
            known=lambda tenant: [entry.rule for entry in self._pools.of(tenant).entries.values()],
            admit=self._admit,
            emit=self._pools.append,
            count=self._script.count,
            clock=self._clock,
        )
        budget = Budget(self._folder / "budget", settings.daily_tokens, settings.share, self._clock)
        return ModelProposer(settings, self._way.numbers, budget, links)

    async def _admit(self, ask: Ask, rule: Rule) -> Verdict:
        cause = sample_of(ask)
        return await asyncio.to_thread(admit, rule, [cause, *self._heard] if cause else self._heard)

    def _clock(self) -> float:
        return self._now


def _contents(event: PoolEvent) -> tuple[str, ...]:
    top = event.data["top"]
    return tuple(map(str, top)) if isinstance(top, list | tuple) else ()
