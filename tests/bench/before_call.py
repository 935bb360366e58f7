"""CPU that the gateway spends on a request before the upstream is called: the real walk, with a provider that stops the clock."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import uvloop
from starlette.types import Message, Receive, Scope

from gateway import logs
from gateway.app import Gateway, build
from gateway.commands.up import tune
from gateway.config import Config, Upstream
from gateway.exchange import Walk
from gateway.providers import Route, Routes
from gateway.recording.prices import Minimums
from gateway.rewriter import Rewriter
from gateway.sessions import Sessions
from gateway.shapes import SHAPES
from gateway.types import Headers, Request
from tests.bench.load import HEADERS, PATH
from tests.bench.sessions import STEP_CHARS, agent, small

SESSIONS = 12
TYPICAL_CHARS = 2_000
"""What most results of agents' commands stay under."""
PAUSE = 0.005
"""Seconds between requests: an agent runs a command before it asks again."""
UPSTREAM = Upstream(name="bench", url="http://127.0.0.1:9/v1")
_ANSWER = b'{"choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}'


class _Stopped:
    """The answer of a provider that does nothing."""

    status = 200
    headers: Headers = ((b"content-type", b"application/json"),)

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        yield _ANSWER

    async def aclose(self) -> None:
        """Nothing to let go."""


@dataclass(slots=True)
class StopClock:
    """A provider that notes how much CPU this thread has used when it is called."""

    at: float = 0.0
    sizes: list[int] = field(default_factory=list)

    async def send(self, request: Request) -> _Stopped:
        """Stop the clock."""
        self.at = time.thread_time()
        self.sizes.append(len(request.body) if isinstance(request.body, bytes) else 0)
        return _Stopped()

    async def aclose(self) -> None:
        """Nothing to let go."""


class Bench:
    """A walk as the application makes it, but for its provider."""

    def __init__(self, config: Config, gateway: Gateway, clock: Callable[[], float] = time.time) -> None:
        self.provider = StopClock()
        self._walk = Walk(
            config=config,
            routes=Routes([Route(UPSTREAM, self.provider)]),
            rewriter=Rewriter(gateway.pins, gateway.archive.omitted, Minimums().find),
            rules=gateway.evolution.ruleset,
            sessions=Sessions(),
            offer=gateway.recorder.offer,
            clock=clock,
        )

    async def send(self, body: bytes) -> float:
        """Seconds of this thread's CPU between the request and the upstream call."""
        receive = _receiving(body)
        began = time.thread_time()
        await self._walk.run(_scope(body), receive, _hear, SHAPES[PATH])
        return self.provider.at - began


async def measure(config: Config, data: Path) -> dict[str, list[float]]:
    """Samples in seconds for small bodies, and for agents' bodies of 300 to 500 KB with one new result."""
    async with build(config, data) as gateway:
        bench = Bench(config, gateway)
        await _each(bench, [small(number) for number in range(300)], 0)
        out = {"0.6 KB": await _each(bench, [small(number) for number in range(300, 1300)], 0)}
        for chars in (STEP_CHARS, TYPICAL_CHARS):
            name = f"400 KB with a new result of {chars // 1000} KB"
            out[name] = []
            for seed in range(SESSIONS):
                before, measured = agent(seed * chars, chars)
                await _each(bench, before, PAUSE)
                await gateway.recorder.drain()
                out[name] += await _each(bench, measured, PAUSE)
        await gateway.recorder.drain()
        return out


async def _each(bench: Bench, bodies: Iterable[bytes], pause: float) -> list[float]:
    out = []
    for body in bodies:
        out.append(await bench.send(body))
        await asyncio.sleep(pause)
    return out


def _scope(body: bytes) -> Scope:
    headers = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
    return {
        "type": "http",
        "method": "POST",
        "path": PATH,
        "raw_path": PATH.encode(),
        "query_string": b"",
        "headers": [(b"content-length", str(len(body)).encode()), *headers],
    }


def _receiving(body: bytes) -> Receive:
    pending = [body]

    async def receive() -> Message:
        if pending:
            return {"type": "http.request", "body": pending.pop(), "more_body": False}
        await asyncio.get_running_loop().create_future()
        return {"type": "http.disconnect"}

    return receive


async def _hear(message: Message) -> None:
    """Whatever goes to the client."""


def main() -> None:
    """Print the samples as JSON."""
    logs.configure("ERROR", sys.stderr)
    tune()
    with tempfile.TemporaryDirectory() as data, asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print(json.dumps(runner.run(measure(Config(upstreams=(UPSTREAM,)), Path(data)))))


if __name__ == "__main__":
    main()
