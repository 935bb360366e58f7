"""Recorded sessions, taken through the gateway's own walk with nobody at the other end: what would it have done?

session ─one request a turn→ Walk → Exchange ─Ledger→ accounts; what the turn quotes × what was forwarded → lost
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from starlette.types import Message, Receive

from gateway.config import Config, Upstream
from gateway.evolving.rules import all_live, read_pools
from gateway.exchange import Exchange, Walk
from gateway.passes import Shown
from gateway.pins import Pins
from gateway.providers import Route, Routes
from gateway.quoting import Quotes, said
from gateway.recording.handover import Handover
from gateway.recording.ledger import Ledger
from gateway.recording.prices import Minimums, PriceBook
from gateway.recording.tokens import TokenCounter
from gateway.recordings import Session
from gateway.rereading import form_of, reread
from gateway.rewriter import Rewriter
from gateway.sessions import Sessions
from gateway.shapes import Shape, anthropic_messages, chat_completions, responses
from gateway.types import Answer, Headers, Request
from memory import Decisions
from rules_engine import RuleSet
from rules_engine.natures import nature

SECONDS_A_TURN = 30.0
"""Between two requests of a session that does not say when they were, as the simulated provider's cache has it."""
_SCOPE: Mapping[str, Any] = {
    "type": "http",
    "method": "POST",
    "path": chat_completions.PATH,
    "query_string": b"",
    "headers": ((b"content-type", b"application/json"),),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """One request of a recorded session, as this gateway would have served it."""

    accounts: Mapping[str, Any]
    kept: Mapping[str, int]
    rewrites: int
    natures: Mapping[str, Mapping[str, int]]
    """For each nature of output (file reads, searches, ...) the tokens of all of it in the prompt, `raw` and `forwarded`."""
    used: frozenset[str]
    """Strings that the agent's answer took from tool results."""
    lost: frozenset[str]
    """Those of them that no longer stood in what was forwarded."""


class Replay:
    """Takes sessions through the walk; decisions live as long as this does."""

    def __init__(self, decisions: Decisions, config: Config, ruleset: RuleSet) -> None:
        self._nobody = _Nobody()
        self._offered: list[Exchange] = []
        self._now = time.time()
        self._prices = PriceBook()
        self._ledger = Ledger(TokenCounter(), self._prices, marks_stand=False)
        self._handover = Handover()
        self._quotes = Quotes()
        self._walk = Walk(
            config=config,
            routes=Routes([Route(Upstream(name="replay"), self._nobody)]),
            rewriter=Rewriter(Pins(decisions, time.monotonic, 5.0), _nothing, Minimums().find),
            sessions=Sessions(),
            rules=lambda exchange, got: ruleset,
            offer=self._offered.append,
            clock=lambda: self._now,
        )

    async def requests(self, session: Session, model: str) -> AsyncIterator[Replayed]:
        """Each request of a session, in order; `model` names the price where the session's own has none."""
        priced = session.model if session.model and self._prices.find(session.model) else model
        tools = {"tools": session.tools} if session.tools else {}
        shape, key = form_of(session.messages)
        for at in session.turns:
            self._now = session.times.get(at, self._now + SECONDS_A_TURN)
            self._nobody.reply = _answer(shape, session.turn(at))
            body = {"model": priced, key: session.messages[:at], **tools}
            scope = {**_SCOPE, "path": shape.PATH}
            await self._walk.run(scope, _sending(json.dumps(body).encode()), _unheard, shape)
            yield self._judge(session, at, self._offered.pop())

    def _judge(self, session: Session, at: int, exchange: Exchange) -> Replayed:
        record = self._ledger.write_up(self._handover.entry(exchange))
        shown = exchange.outgoing.shown if exchange.outgoing else ()
        messages = exchange.conversation.messages if exchange.conversation else ()
        results = {one.at for one in shown}
        told = [said(placed.message) for k, placed in enumerate(messages) if k not in results]
        observed = [one.item.observation.text for one in shown]
        answer, _ = reread(session.turn(at))
        used = self._quotes.used("\n".join(said(p.message) for p in answer.messages), observed, told)
        return Replayed(
            accounts=record.accounts,
            kept=record.kept,
            rewrites=len(record.rewrites),
            natures=self._natures(shown),
            used=used,
            lost=self._quotes.standing(used, (one.text for one in shown), absent=True),
        )

    def _natures(self, shown: Iterable[Shown]) -> dict[str, Counter[str]]:
        out: dict[str, Counter[str]] = {}
        for one in shown:
            counts = out.setdefault(nature(one.item.observation), Counter())
            counts["raw"] += self._ledger.tokens(one.item.digest, one.item.observation.text)
            counts["forwarded"] += self._ledger.tokens(one.digest, one.text)
        return out


@asynccontextmanager
async def replaying(config: Config, data: Path) -> AsyncIterator[Replay]:
    """A replay with the rules that a gateway of this data folder has; nothing is kept of it."""
    with TemporaryDirectory(prefix="taco-replay-") as folder:
        decisions = await Decisions.open(Path(folder) / "decisions.sqlite")
        try:
            yield Replay(decisions, config, all_live(await read_pools(config, data), config))
        finally:
            await decisions.aclose()


class _Nobody:
    """The provider of a replay: answers what the model answered then."""

    def __init__(self) -> None:
        self.reply: Mapping[str, Any] = {}

    async def send(self, request: Request) -> Answer:
        return _Answered(json.dumps(self.reply).encode())

    async def aclose(self) -> None:
        pass


def _answer(shape: Shape, turn: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A turn as the whole answer that it was."""
    if shape is responses:
        return {"id": "", "object": "response", "status": "completed", "output": list(turn)}
    if shape is anthropic_messages:
        return {"type": "message", "stop_reason": "end_turn", **turn[0]}
    return {"choices": [{"index": 0, "message": turn[0], "finish_reason": "stop"}]}


@dataclass(slots=True)
class _Answered:
    body: bytes
    status: int = 200
    headers: Headers = ((b"content-type", b"application/json"),)

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        yield self.body

    async def aclose(self) -> None:
        pass


def _sending(body: bytes) -> Receive:
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        if not messages:
            await asyncio.Event().wait()  # the client of a replay does not leave
        return messages.pop()

    return receive


async def _unheard(message: Message) -> None:
    pass


async def _nothing(tenant: str, name: str) -> str | None:
    return None
