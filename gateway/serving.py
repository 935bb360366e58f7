"""An application on a socket of its own, for as long as somebody needs it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

import uvicorn
from starlette.types import ASGIApp


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()
        self.leaving = asyncio.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals to whoever owns the process."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, or say that it failed without ending the process."""
        try:
            await super().startup(sockets)
        except SystemExit:
            self.should_exit = True
        finally:
            self.ready.set()

    async def main_loop(self) -> None:
        """Keep the clock of the headers until it is time to leave, which is then at once."""
        while not self.leaving.is_set():
            await self.on_tick(0)
            with suppress(TimeoutError):
                await asyncio.wait_for(self.leaving.wait(), 1)


@asynccontextmanager
async def serving(app: ASGIApp, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
    """Serve `app`, on any free port if none is given; the value is its base URL."""
    config = uvicorn.Config(app, log_config=None, log_level="critical", timeout_graceful_shutdown=1)
    server = _Server(config)
    with socket.create_server((host, port)) as listener:
        task = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            await server.ready.wait()
            if not server.started:
                raise RuntimeError("the application did not start")
            yield f"http://{host}:{listener.getsockname()[1]}"
        finally:
            server.leaving.set()
            await task
