"""A gateway on a real socket, in this process or in one of its own, and what it has on record."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gateway.app import Gateway, application
from gateway.config import Config, Server, Store, Upstream
from gateway.serving import serving
from memory import ExchangeRow
from tests.wire import JSON, PATIENCE, Answer, Reply, ask
from tests.wire import Upstream as Told

ID = "x-taco-request-id"


def configured(url: str, **sections: Any) -> Config:
    """A configuration with one upstream for all models, which gets the client's own key; nobody is in a hurry."""
    config = Config(
        upstreams=(Upstream(name="up", url=f"{url}/v1"),),
        server=Server(read_seconds=PATIENCE),
        store=Store(decision_seconds=PATIENCE, commit_seconds=PATIENCE),
    )
    return replace(config, **sections)


@dataclass(frozen=True)
class Service:
    """A gateway under test."""

    url: str
    gateway: Gateway
    data: Path

    async def row(self, of: Answer | str) -> ExchangeRow:
        """What is on record of a request, by its answer or its id."""
        name = of if isinstance(of, str) else of.header(ID)
        assert name is not None
        async with asyncio.timeout(PATIENCE):
            while True:
                await self.gateway.recorder.drain()
                row = await self.gateway.archive.exchange(name)
                if row is not None:
                    return row
                await asyncio.sleep(0.005)


@asynccontextmanager
async def service(config: Config, data: Path) -> AsyncIterator[Service]:
    """A gateway in this process."""
    app = application(config, data)
    async with serving(app) as url:
        yield Service(url, app.state.gateway, data)


@dataclass(frozen=True)
class Wire:
    """An upstream with a gateway before it."""

    up: Told
    gateway: Service

    async def ask(
        self,
        reply: Reply,
        path: str,
        body: bytes | None,
        *,
        method: str = "POST",
        headers: Iterable[tuple[str, str]] = (JSON,),
    ) -> Answer:
        """One request through the gateway, answered by `reply`."""
        self.up.reply = reply
        return await ask(self.gateway.url, path, body, method=method, headers=headers)


@dataclass(frozen=True)
class Process:
    """A gateway in a process of its own."""

    url: str
    process: asyncio.subprocess.Process

    async def kill(self) -> None:
        """End it as a crash would."""
        self.process.kill()
        await self.process.wait()


@asynccontextmanager
async def process(
    data: Path, upstream: str, *, text: str = "", env: dict[str, str] | None = None
) -> AsyncIterator[Process]:
    """A gateway started as users start it; `text` goes into its configuration."""
    config = data / "given.yaml"
    patient = f"store: {{decision_seconds: {PATIENCE}, commit_seconds: {PATIENCE}}}"
    config.write_text(f"upstreams:\n  - {{name: up, url: {upstream}/v1}}\n{patient}\n{text}")
    command = [sys.executable, "-m", "gateway", "up", "--port", "0", "--data", str(data), "--config", str(config)]
    with (data / "log").open("ab") as log:
        started = await asyncio.create_subprocess_exec(
            *command,
            cwd=Path(__file__).parents[1],
            env=os.environ | (env or {}),
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
        )
    assert started.stdout is not None
    try:
        async with asyncio.timeout(PATIENCE):
            line = (await started.stdout.readline()).decode()
        url = line.strip().partition("=")[2].strip("'\"").removesuffix("/v1")
        assert url.startswith("http"), (data / "log").read_text()
        yield Process(url, started)
    finally:
        with suppress(ProcessLookupError):
            started.send_signal(signal.SIGTERM)
        await started.communicate()
