"""The application: every object is made and joined to the others here, once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import structlog
from starlette.applications import Starlette
from starlette.types import Receive, Scope, Send

from gateway import admin
from gateway.config import Config, Upstream
from gateway.evolving.asking import ask_through_litellm
from gateway.evolving.budget import BUDGET, Budget
from gateway.evolving.evolution import Evolution
from gateway.evolving.pools import Pools
from gateway.evolving.proposer import Links, ModelProposer
from gateway.evolving.rules import POOL, built_in
from gateway.evolving.study import judge, study
from gateway.exchange import Exchange, Offer, Walk
from gateway.models import has_several, list_models
from gateway.paths import provided
from gateway.pins import Pins
from gateway.processes import Worker
from gateway.providers import Provider, Route, Routes
from gateway.providers.passthrough import Passthrough
from gateway.providers.via_litellm import ViaLitellm
from gateway.recording.books import Bookkeeper, Books
from gateway.recording.ledger import Ledger
from gateway.recording.prices import Minimums, PriceBook
from gateway.recording.recorder import Recorder
from gateway.recording.tokens import TokenCounter
from gateway.remembering import memory_pages
from gateway.remembering.archiving import Archiving, in_a_process
from gateway.remembering.injecting import Injector, read_index
from gateway.rewriter import Rewriter
from gateway.sessions import Sessions
from gateway.shapes import SHAPES
from gateway.websocket import WebSockets
from memory import Archive, Decisions, Logged, PoolEvents, RawLog, Spill

MINUTE, DAY = 60.0, 86_400.0
"""In seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """A gateway in service."""

    config: Config
    routes: Routes
    pins: Pins
    pools: Pools
    evolution: Evolution
    proposer: ModelProposer
    archive: Archive
    archiving: Archiving
    recorder: Recorder
    walk: Walk
    websockets: WebSockets


@asynccontextmanager
async def build(config: Config, data: Path, clock: Callable[[], float] = time.time) -> AsyncGenerator[Gateway, None]:
    """A gateway whose data lives in the folder `data`, in service until the context ends."""
    async with AsyncExitStack() as stack:
        decisions = await Decisions.open(data / "decisions.sqlite")
        stack.push_async_callback(decisions.aclose)
        tend = partial(_tend, decisions, config.store.decision_days, clock)
        stack.push_async_callback(tend)  # a gateway may live for less than a minute
        archive = await Archive.open(data)
        stack.push_async_callback(archive.aclose)
        routes = Routes([Route(upstream, await _open(upstream, config)) for upstream in config.upstreams])
        stack.push_async_callback(routes.aclose)
        pools = await stack.enter_async_context(_pools(config, data))
        proposer = _proposer(config, data, pools, clock)
        evolution = _evolution(config, data, pools, proposer, clock)
        pins = Pins(decisions, time.monotonic, config.store.decision_seconds)
        spill = Spill(data / "spill")
        stack.callback(spill.close)
        kept = Logged(archive, RawLog(data))
        reserve = Bookkeeper(
            Ledger(TokenCounter(rough=True), PriceBook()), kept, spill, time.monotonic, archive.left_off
        )
        books = await stack.enter_async_context(keeping(data, reserve))
        recorder = Recorder(books, reserve, config.store.queue, time.monotonic)
        archiving = Archiving(data, clock, in_a_process(config))
        walk = Walk(
            config=config,
            routes=routes,
            rewriter=Rewriter(pins, archive.omitted, Minimums().find),
            sessions=Sessions(),
            rules=evolution.ruleset,
            injector=_injector(config, data, decisions),
            offer=_both(recorder.offer, evolution.offer),
            clock=clock,
        )
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(recorder.run())
            beside = [
                tasks.create_task(evolution.run()),
                tasks.create_task(proposer.run()),
                tasks.create_task(archiving.run()),
                tasks.create_task(_every_minute(tend)),
            ]
            try:
                yield Gateway(
                    config=config,
                    routes=routes,
                    pins=pins,
                    pools=pools,
                    evolution=evolution,
                    proposer=proposer,
                    archive=archive,
                    archiving=archiving,
                    recorder=recorder,
                    walk=walk,
                    websockets=WebSockets(walk, routes, config, clock),
                )
            finally:
                recorder.stop()
                await evolution.close()
                for task in beside:
                    task.cancel()


@asynccontextmanager
async def _pools(config: Config, data: Path) -> AsyncGenerator[Pools, None]:
    """The pools of a data folder, as far as they have come."""
    events = await PoolEvents.open(data / POOL)
    try:
        pools = Pools(events, built_in(config), config.evolution)
        await pools.refresh()
        yield pools
    finally:
        await events.aclose()


def _evolution(
    config: Config, data: Path, pools: Pools, proposer: ModelProposer, clock: Callable[[], float]
) -> Evolution:
    # Without a list of clients the gateway is one person's or one team's, whatever keys they use.
    apart = bool(config.clients)
    return Evolution(pools, config.rules, config.evolution, partial(study, data), proposer, clock, apart=apart)


def _injector(config: Config, data: Path, decisions: Decisions) -> Injector:
    deadline = config.store.decision_seconds
    return Injector(config.memory.inject, decisions, partial(read_index, data), time.monotonic, deadline)


def _proposer(config: Config, data: Path, pools: Pools, clock: Callable[[], float]) -> ModelProposer:
    settings = config.proposer
    links = Links(
        model=ask_through_litellm(settings),
        known=lambda tenant: [entry.rule for entry in pools.of(tenant).entries.values()],
        admit=partial(judge, data),
        emit=pools.append,
        count=TokenCounter(rough=True).count,
        clock=clock,
    )
    budget = Budget(data / BUDGET, settings.daily_tokens, settings.share, clock)
    return ModelProposer(settings, config.evolution, budget, links)


def _both(one: Offer, other: Offer) -> Offer:
    def offer(exchange: Exchange) -> None:
        one(exchange)
        other(exchange)

    return offer


@asynccontextmanager
async def keeping(data: Path, reserve: Books) -> AsyncGenerator[Books, None]:
    """The books of a data folder, kept by a process of their own; `reserve` are those kept by this one."""
    worker = Worker(data)
    try:
        yield worker
    finally:
        await worker.aclose()


def application(config: Config, data: Path) -> Starlette:
    """The ASGI application: ours under `/_gateway`, `/healthz` and `/metrics`; every `/v1` path is the provider's."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncGenerator[None, None]:
        async with build(config, data) as gateway:
            app.state.gateway = gateway
            yield

    routes = [*admin.ROUTES, *memory_pages.routes(data)]
    return _Application(lifespan=lifespan, routes=routes, exception_handlers={404: admin.nowhere})


class _Application(Starlette):
    """Our own pages by Starlette; the paths that belong to the provider as plain ASGI, since each layer costs at each chunk."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        meant = provided(scope) if scope["type"] in ("http", "websocket") else None
        if meant is not None:
            await self._provide(meant, receive, send)
        else:
            await super().__call__(scope, receive, send)

    async def _provide(self, scope: Scope, receive: Receive, send: Send) -> None:
        gateway: Gateway = self.state.gateway
        if scope["type"] == "websocket":
            await gateway.websockets.run(scope, receive, send)
            return
        path, method = scope["path"].rstrip("/"), scope["method"]
        if method == "GET" and path == "/v1/models" and has_several(gateway.routes, scope):
            await list_models(gateway.routes, gateway.config, scope, receive, send)
        else:
            await gateway.walk.run(scope, receive, send, SHAPES.get(path) if method == "POST" else None)


async def _open(upstream: Upstream, config: Config) -> Provider:
    if upstream.via == "litellm":
        return ViaLitellm(upstream)
    return await Passthrough.open(upstream, config.server.connect_seconds, config.server.read_seconds)


async def _every_minute(work: Callable[[], Awaitable[None]]) -> None:
    while True:
        await asyncio.sleep(MINUTE)
        await work()


async def _tend(decisions: Decisions, days: int, clock: Callable[[], float]) -> None:
    """Forget decisions that nobody has used for so many days, and fold the log of the others into their file."""
    try:
        await decisions.expire(int(clock() // DAY), days)
        await decisions.checkpoint()
    except Exception as error:  # the next time it may succeed, and requests need none
        structlog.get_logger("taco").warning("the decisions could not be tended", reason=str(error))
