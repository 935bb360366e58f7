"""Takes a recorded session through the gateway's own walk, request by request, with nobody at the other end."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

from gateway import replaying
from gateway.config import Config, Upstream
from gateway.exchange import Exchange, Walk
from gateway.inbound import Inbound
from gateway.messages.chat_completions import read_message
from gateway.passes import Shown
from gateway.pins import Pins
from gateway.providers import Route, Routes
from gateway.quoting import said
from gateway.recording.prices import Minimums
from gateway.rewriter import Rewriter
from gateway.sessions import Sessions
from gateway.shapes import chat_completions
from memory import Decisions
from rules_engine import RuleSet
from tests.bench.recorded import Recorded

Rules = Callable[[Exchange, Inbound], RuleSet]
Hear = Callable[[Exchange], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """A session after it went through. Its history only grows and what is pinned stays, so its last request tells all."""

    recorded: Recorded
    said: tuple[str, ...]
    """What each message says, as far as the last answer."""
    shown: tuple[Shown, ...]
    """What was forwarded of each observation."""
    stable: int
    """Requests whose known prefix was forwarded as before."""
    sent: bytes
    """The body of the last request, as forwarded."""


async def take(recorded: Recorded, rules: Rules, hear: Hear, folder: Path) -> Passed:
    """Send every request of a session; `hear` is awaited after each, and the folder holds what is pinned."""
    session, offered, stable = recorded.session, list[Exchange](), 0
    nobody = replaying._Nobody()
    async with aclosing(await Decisions.open(Path(mkdtemp(dir=folder)) / "decisions.sqlite")) as decisions:
        walk = Walk(
            config=Config(),
            routes=Routes([Route(Upstream(name="bench"), nobody)]),
            rewriter=Rewriter(Pins(decisions, time.monotonic, 60.0), replaying._nothing, Minimums().find),
            sessions=Sessions(),
            rules=rules,
            offer=offered.append,
            clock=time.time,
        )
        for at in session.turns:
            nobody.reply = session.messages[at]
            tools = {"tools": session.tools} if session.tools else {}
            body = json.dumps({"model": "bench", "messages": session.messages[:at], **tools}).encode()
            await walk.run(_scope(recorded), replaying._sending(body), replaying._unheard, chat_completions)
            exchange = offered.pop()
            stable += exchange.prefix_whole
            await hear(exchange)
    return _passed(recorded, exchange, stable)


async def unheard(exchange: Exchange) -> None:
    """Nobody listens."""


def session_id(recorded: Recorded) -> str:
    """What the agent calls its session."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "-" for c in recorded.name)[-128:]


def _scope(recorded: Recorded) -> dict[str, object]:
    headers = [*replaying._SCOPE["headers"], (b"x-taco-session", session_id(recorded).encode())]
    return {**replaying._SCOPE, "headers": headers}


def _passed(recorded: Recorded, last: Exchange, stable: int) -> Passed:
    assert last.outgoing is not None, last.error
    assert last.conversation is not None
    answer = recorded.session.messages[recorded.session.turns[-1]]
    messages = [placed.message for placed in last.conversation.messages]
    messages.append(read_message(json.dumps(answer).encode(), len(messages)))
    return Passed(
        recorded=recorded,
        said=tuple(said(message) for message in messages),
        shown=last.outgoing.shown,
        stable=stable,
        sent=last.outgoing.body,
    )
