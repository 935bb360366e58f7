"""Serving: an application on a socket for as long as somebody needs it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.errors import said_by
from gateway.listening import Protocol, WebSocketProtocol

KEEP_ALIVE = 3600
"""Seconds that an idle connection stays open: agents think, and run commands, between their requests."""

WEBSOCKET_MB = 256
"""Largest message of a WebSocket."""


class _Watched:
    """An application, and what its lifespan raised: the server only says that it failed."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.failure: Exception | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            return await self._app(scope, receive, send)
        try:
            await self._app(scope, receive, send)
        except Exception as error:
            self.failure = error
            raise


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
        """Keep the clock of the server until it is time to leave, which is then at once."""
        while not self.leaving.is_set():
            await self.on_tick(0)
            with suppress(TimeoutError):
                await asyncio.wait_for(self.leaving.wait(), 1)


@asynccontextmanager
async def serving(app: ASGIApp, host: str = "127.0.0.1", port: int = 0, grace: int = 1) -> AsyncIterator[str]:
    """Serve `app`, on any free port if none is given; the value is its base URL. At the end requests have `grace` seconds.

    Raises `OSError` if the port cannot be had, and `RuntimeError` from what the application's start raised.
    """
    watched = _Watched(app)
    server = _Server(_settings(watched, grace))
    with listen(host, port) as listener:
        task = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            await server.ready.wait()
            if not server.started:
                raise RuntimeError("the application did not start") from watched.failure
            yield address(host, listener.getsockname()[1])
        finally:
            server.leaving.set()
            await task


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; on `::` to every address of both kinds. Raises `OSError` if the port cannot be had."""
    if host == "::" and socket.has_dualstack_ipv6():
        return socket.create_server((host, port), family=socket.AF_INET6, dualstack_ipv6=True)
    return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)


def why_not(error: OSError) -> str:
    """What the system says of an address that cannot be had; Python adds which it was, and whoever tells of it has named it."""
    return said_by(error).partition(" (while ")[0]


def address(host: str, port: int) -> str:
    """The base URL by which this machine reaches a host that is listened on."""
    reachable = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{reachable}]:{port}" if ":" in reachable else f"http://{reachable}:{port}"


def _settings(app: ASGIApp, grace: int) -> uvicorn.Config:
    """The upstream's headers go out unchanged, so the server adds none of its own."""
    return uvicorn.Config(
        app,
        http=Protocol,
        ws=WebSocketProtocol,
        ws_max_size=WEBSOCKET_MB << 20,
        ws_ping_interval=None,  # what the provider does not ask, the client is not asked
        ws_per_message_deflate=False,
        access_log=False,
        server_header=False,
        date_header=False,
        log_config=None,
        log_level="critical",
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=grace,
    )
