"""Evolution, live: what agents do next becomes events, events the pool, and the pool the rules of the next session.

session's start ─select→ Task → RuleSet                                       on the path: one look into a dictionary
exchange ─Turn*→ signals ─complaints→ Task → PoolEvent* ─Pools→ Pool          off the path, in a thread
every few sessions: archive ─study→ PoolEvent*                                off the path, in a process of its own
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

import structlog

from gateway.cache import BoundedCache
from gateway.evolving import tasks
from gateway.evolving.asking import Ask
from gateway.evolving.pools import SHARED, Pools
from gateway.evolving.proposer import ModelProposer
from gateway.exchange import Exchange
from gateway.inbound import Inbound, key_of
from memory import StoreError
from rules_engine import Result, RuleSet, Settings, Signal
from rules_engine.evolution.pool import Numbers, Pool, PoolEvent, batch, due, is_converged, top
from rules_engine.evolution.prompts import About, Start, Uncovered
from rules_engine.evolution.proposals import Outcome
from rules_engine.evolution.selection import select, select_planned
from rules_engine.evolution.task import Task, end, renew, replan, rules, start

SESSIONS = 1000
"""Sessions whose tasks are remembered."""
QUEUE, HELD = 1000, 64 << 20
"""Exchanges that may wait to be looked at, and bytes of their requests; learning can do without those that do not get in."""
BYTES_A_TOKEN = 4
"""Roughly, for the share of all tokens that a model of ours may cost."""
LEAVING = 2.0
"""Seconds that the end of the gateway waits for exchanges to be looked at."""
TICK = 1.0
"""Seconds between two looks for sessions that have gone quiet, and for what others wrote into the pool."""

Work = Callable[[], Awaitable[None]]

Study = Callable[[Pool, str, float], Awaitable[Sequence[PoolEvent]]]
"""(a tenant's pool, the tenant, time) → what its sessions teach."""


@dataclass(slots=True, kw_only=True)
class Session:
    """A session as evolution sees it."""

    task: Task
    ruleset: RuleSet
    goal: str
    """What the agent was asked to do."""
    key: str | None = field(repr=False)
    """The client's own, for a model that the operator lets use it."""
    heard: float
    signals: list[Signal] = field(default_factory=list)
    shadowed: dict[str, Result] = field(default_factory=dict)
    """By key: decided with the rules in trial, and not applied."""
    told: bool = True
    """Its end has been told to the pool, and nothing has happened in it since."""


class Evolution:
    """Chooses the rules of each session, and listens to what becomes of them."""

    def __init__(
        self,
        pools: Pools,
        settings: Settings,
        numbers: Numbers,
        study: Study,
        proposer: ModelProposer,
        clock: Callable[[], float],
        *,
        apart: bool,
    ) -> None:
        """`apart`: each tenant has a pool of its own, beside the shared one; else all learn in the shared one."""
        self._pools = pools
        self._settings = settings
        self._numbers = numbers
        self._study = study
        self._proposer = proposer
        self._clock = clock
        self._apart = apart
        self._sessions: BoundedCache[str, Session] = BoundedCache(SESSIONS)
        self._queue: asyncio.Queue[Work] = asyncio.Queue(QUEUE)
        self._held = 0
        """Bytes of the requests that wait in it."""
        self._ended: dict[str, set[str]] = {}
        """By tenant: the sessions that ended since there was last something to learn."""
        self._studies: dict[str, asyncio.Task[None]] = {}
        self._log = structlog.get_logger("taco")
        self.problem: str | None = None
        self.missed = 0
        """Exchanges that were not looked at."""

    def ruleset(self, exchange: Exchange, got: Inbound) -> RuleSet:
        """The rules that new observations of an exchange's session are decided by; chosen when it starts."""
        assert exchange.history is not None
        session = self._sessions.get(exchange.history.session) or self._begin(exchange, got)
        return session.ruleset

    def session(self, name: str) -> Session | None:
        """What is known of a session."""
        return self._sessions.get(name)

    def _begin(self, exchange: Exchange, got: Inbound) -> Session:
        assert exchange.history is not None
        assert exchange.conversation is not None
        name, tenant = exchange.history.session, exchange.tenant if self._apart else SHARED
        pool = self._pools.of(tenant)
        head = tasks.head_words(exchange.body, exchange.conversation)
        facts = tasks.facts(exchange.conversation, got.fields.get("user-agent", ""), head)
        chosen = select(pool, facts, self._settings, name)
        task = start(chosen, name, tenant=tenant, place=facts.repository, numbers=self._numbers)
        begun = Session(
            task=task,
            ruleset=rules(task, self._settings),
            goal=facts.first_message,
            key=key_of(got.fields) or None if self._proposer.may_use_client_key else None,
            heard=self._clock(),
        )
        self._sessions.put(name, begun)
        if self._proposer.is_on:
            best = tuple(entry.current() for entry in top(pool))
            self._ask(begun, Start(task=facts.first_message, rules=best), partial(self._plan, begun))
        return begun

    def _ask(self, session: Session, about: About, then: Callable[[Outcome], None] | None = None) -> None:
        task = session.task
        if not is_converged(self._pools.of(task.tenant)):
            self._proposer.offer(Ask(about=about, tenant=task.tenant, session=task.session, key=session.key, then=then))

    def _plan(self, session: Session, outcome: Outcome) -> None:
        """Take a planner's choice; it waits its turn, since an exchange that is being looked at has the task in hand."""
        if outcome.selected is not None:
            self._take(partial(self._replan, session, [name for name, _ in outcome.selected]))

    async def _replan(self, session: Session, names: Sequence[str]) -> None:
        """Use what a planner chose, for what is first seen from now on."""
        task = session.task
        chosen = select_planned(self._pools.of(task.tenant), names, (), self._settings, task.session)
        session.task, events = replan(task, chosen, self._clock())
        session.ruleset = rules(session.task, self._settings)
        await self._pools.append(events)

    def offer(self, exchange: Exchange) -> None:
        """Take a closed exchange. Never waits, never raises."""
        if exchange.outgoing is None or exchange.history is None or exchange.history.retry:
            return
        if self._held + len(exchange.body) > HELD:
            self.missed += 1
        elif self._take(partial(self._listen, exchange)):
            self._held += len(exchange.body)

    def _take(self, work: Work) -> bool:
        try:
            self._queue.put_nowait(work)
        except asyncio.QueueFull:
            self.missed += 1
            return False
        return True

    async def run(self) -> None:
        """Do what is offered, one after the other, until cancelled; and look around in time, however much is offered."""
        time = asyncio.get_running_loop().time
        look = time() + TICK
        while True:
            if time() >= look:
                await self._safely(self._tick())
                look = time() + TICK
            with suppress(TimeoutError):
                async with asyncio.timeout_at(look):
                    work = await self._queue.get()
                await self._safely(work())
                self._queue.task_done()

    async def drain(self) -> None:
        """Wait until all that was offered was looked at, and what was learned from it is stored."""
        await self._queue.join()
        await asyncio.gather(*self._studies.values())

    async def close(self) -> None:
        """Look at what still waits, then tell the end of every session that is open; what is being learned is given up."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LEAVING):
                await self._queue.join()
        for session in self._sessions.values():
            await self._safely(self._end(session))
        studies = [*self._studies.values()]
        for study in studies:
            study.cancel()
        await asyncio.gather(*studies, return_exceptions=True)

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
                await self._end(session)

    async def _listen(self, exchange: Exchange) -> None:
        self._held -= len(exchange.body)
        await self._hear(exchange)

    async def _hear(self, exchange: Exchange) -> None:
        assert exchange.history is not None
        assert exchange.outgoing is not None
        session = self._sessions.get(exchange.history.session)
        if session is None:
            return
        task = session.task
        session.heard, session.told = self._clock(), False
        self._proposer.saw(task.tenant, task.session, len(exchange.outgoing.body) // BYTES_A_TOKEN)
        seen = await asyncio.to_thread(
            tasks.look, exchange, task, session.shadowed, session.signals, self._settings, self._clock()
        )
        session.shadowed = dict(seen.shadowed)
        session.signals += seen.signals
        session.task, session.ruleset = seen.task, rules(seen.task, self._settings)
        await self._pools.append(seen.events)
        for observation in seen.uncovered:
            self._ask(session, Uncovered(command=observation.command, text=observation.text, task=session.goal))
        for missed in seen.missed:
            self._ask(session, missed)
        if tasks.hands_back(exchange):
            await self._end(session)

    async def _end(self, session: Session) -> None:
        """Tell the pool what became of a session's rules; every few sessions, learn from what they were."""
        if session.told:
            return
        tenant, name = session.task.tenant, session.task.session
        await self._pools.append(end(session.task, self._clock()))
        session.task, session.told = renew(session.task), True
        self._proposer.ended(tenant, name)
        await self._pools.append(due(self._pools.of(tenant), tenant, self._clock()))
        measured = batch(self._pools.of(tenant), tenant, self._clock())
        if measured is not None:
            await self._pools.append([measured])
        ended = self._ended.setdefault(tenant, set())
        ended.add(name)
        if len(ended) >= self._numbers.batch_tasks:
            del self._ended[tenant]
            if not is_converged(self._pools.of(tenant)):
                self._learn(tenant)

    def _learn(self, tenant: str) -> None:
        if tenant in self._studies:
            return  # what is under way reads the archive as it is now
        task = self._studies[tenant] = asyncio.create_task(self._safely(self._studied(tenant)))
        task.add_done_callback(lambda _: self._studies.pop(tenant))

    async def _studied(self, tenant: str) -> None:
        await self._pools.append(await self._study(self._pools.of(tenant), tenant, self._clock()))
