"""Evolution, live: what agents do next becomes events, events the pool, and the pool the rules of the next session.

session's start ─select→ Task → RuleSet                                       on the path: one look into a dictionary
exchange ─Turn*→ signals ─complaints→ Task → PoolEvent* ─Pools→ Pool          off the path, in a thread
every few sessions: archive ─study→ PoolEvent*                                off the path, in a process of its own
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import structlog

from gateway import tasks
from gateway.cache import BoundedCache
from gateway.exchange import Exchange
from gateway.pools import Pools
from gateway.types import Conversation
from memory import StoreError
from rules_engine import Result, RuleSet, Settings, Signal
from rules_engine.complaints import complaints
from rules_engine.pool import Numbers, Pool, PoolEvent, batch, due, is_converged
from rules_engine.selection import Excluded, select
from rules_engine.task import Task, complain, end, renew, rules, start

SESSIONS = 10_000
"""Sessions whose tasks are remembered."""
QUEUE = 1000
"""Exchanges that may wait to be looked at; learning can do without those that do not get in."""
TICK = 1.0
"""Seconds between two looks for sessions that have gone quiet, and for what others wrote into the pool."""

Study = Callable[[Pool, str, float], Awaitable[Sequence[PoolEvent]]]
"""(a tenant's pool, the tenant, time) → what its sessions teach."""


@dataclass(slots=True, kw_only=True)
class Session:
    """A session as evolution sees it."""

    tenant: str
    task: Task
    ruleset: RuleSet
    excluded: Excluded
    heard: float
    signals: list[Signal] = field(default_factory=list)
    shadowed: dict[str, Result] = field(default_factory=dict)
    """By key: decided with the rules in trial, and not applied."""
    told: bool = True
    """Nothing has happened since its end was told."""


class Evolution:
    """Chooses the rules of each session, and listens to what becomes of them."""

    def __init__(
        self, pools: Pools, settings: Settings, numbers: Numbers, study: Study, clock: Callable[[], float]
    ) -> None:
        self._pools = pools
        self._settings = settings
        self._numbers = numbers
        self._study = study
        self._clock = clock
        self._sessions: BoundedCache[str, Session] = BoundedCache(SESSIONS)
        self._queue: asyncio.Queue[Exchange] = asyncio.Queue(QUEUE)
        self._ended: dict[str, list[str]] = {}
        self._studies: dict[str, asyncio.Task[None]] = {}
        self._log = structlog.get_logger("taco")
        self.problem: str | None = None
        self.missed = 0
        """Exchanges that were not looked at."""

    def ruleset(self, exchange: Exchange, agent: str) -> RuleSet:
        """The rules that new observations of an exchange's session are decided by; chosen when it starts."""
        assert exchange.history is not None
        assert exchange.conversation is not None
        name = exchange.history.session
        known = self._sessions.get(name) or self._begin(exchange.tenant, name, exchange.conversation, agent)
        return known.ruleset

    def session(self, name: str) -> Session | None:
        """What is known of a session."""
        return self._sessions.get(name)

    def _begin(self, tenant: str, session: str, conversation: Conversation, agent: str) -> Session:
        facts = tasks.facts(conversation, agent)
        chosen = select(self._pools.of(tenant), facts, self._settings, session)
        task = start(chosen, session, tenant=tenant, place=facts.repository, numbers=self._numbers)
        ruleset = rules(task, self._settings)
        begun = Session(tenant=tenant, task=task, ruleset=ruleset, excluded=chosen.excluded, heard=self._clock())
        self._sessions.put(session, begun)
        return begun

    def offer(self, exchange: Exchange) -> None:
        """Take a closed exchange. Never waits, never raises."""
        if exchange.outgoing is None or exchange.history is None or exchange.history.retry:
            return
        try:
            self._queue.put_nowait(exchange)
        except asyncio.QueueFull:
            self.missed += 1

    async def run(self) -> None:
        """Look at what is offered, until cancelled."""
        while True:
            try:
                async with asyncio.timeout(TICK):
                    exchange = await self._queue.get()
            except TimeoutError:
                await self._safely(self._tick())
            else:
                await self._safely(self._hear(exchange))
                self._queue.task_done()

    async def drain(self) -> None:
        """Wait until all that was offered was looked at, and what was learned from it is stored."""
        await self._queue.join()
        await asyncio.gather(*self._studies.values())

    async def close(self) -> None:
        """Tell the end of every session that is open."""
        for session in self._sessions.values():
            await self._safely(self._end(session.task.session))

    async def _safely(self, work: Awaitable[None]) -> None:
        """Whatever goes wrong costs what could be learned, and nothing else."""
        try:
            await work
        except StoreError as error:
            self.problem = f"what was learned cannot be stored: {error}"
        except Exception:
            self._log.exception("evolution failed")
            self.missed += 1

    async def _tick(self) -> None:
        await self._pools.refresh()
        self.problem = None
        quiet = self._clock() - self._numbers.idle_seconds
        for session in self._sessions.values():
            if not session.told and session.heard < quiet:
                await self._end(session.task.session)

    async def _hear(self, exchange: Exchange) -> None:
        assert exchange.history is not None
        name = exchange.history.session
        session = self._sessions.get(name)
        if session is None:
            return
        session.heard, session.told = self._clock(), False
        events = await asyncio.to_thread(self._look, session, exchange)
        if events:
            await self._pools.append(events)
        if tasks.hands_back(exchange):
            await self._end(name)

    def _look(self, session: Session, exchange: Exchange) -> Sequence[PoolEvent]:
        """Count what was applied, hear what the agent says about it, freeze and repair what it complains about."""
        seen = tasks.look(exchange, session.task, session.shadowed, self._settings)
        session.shadowed |= seen.shadowed
        session.task = seen.task
        session.signals += seen.signals
        blamed = complaints(session.signals)
        task, events = complain(session.task, tasks.as_signals(blamed, session.signals), self._clock())
        if events:
            task, repairs = tasks.repaired(task, blamed, seen.turns, self._clock())
            events = (*events, *repairs)
            self._log.info(
                "rules frozen", session=task.session, rules=[event.ref for event in events if event.name == "frozen"]
            )
        session.task, session.ruleset = task, rules(task, self._settings)
        return events

    async def _end(self, name: str) -> None:
        """Tell the pool what became of a session's rules; every few sessions, learn from what they were."""
        session = self._sessions.get(name)
        if session is None or session.told:
            return
        await self._pools.append(end(session.task, self._clock()))
        session.task, session.told = renew(session.task), True
        pool = self._pools.of(session.tenant)
        await self._pools.append(due(pool, session.tenant, self._clock()))
        measured = batch(self._pools.of(session.tenant), session.tenant, self._clock())
        if measured is not None:
            await self._pools.append([measured])
        ended = self._ended.setdefault(session.tenant, [])
        if name not in ended:
            ended.append(name)
        if len(ended) >= self._numbers.batch_tasks and not is_converged(self._pools.of(session.tenant)):
            del self._ended[session.tenant]
            self._learn(session.tenant)

    def _learn(self, tenant: str) -> None:
        if tenant in self._studies:
            return  # what is under way reads the archive as it is now
        task = self._studies[tenant] = asyncio.create_task(self._safely(self._studied(tenant)))
        task.add_done_callback(lambda _: self._studies.pop(tenant))

    async def _studied(self, tenant: str) -> None:
        await self._pools.append(await self._study(self._pools.of(tenant), tenant, self._clock()))
