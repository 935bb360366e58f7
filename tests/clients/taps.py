"""A tap on the wire: everything goes through as it is, WebSockets too, and what was sent is kept."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import aiohttp
from aiohttp import WSMsgType, web

MARK = "x-tap"
"""Numbers a request on its way through two taps."""
_OWN = {"host", "content-length", "connection", "transfer-encoding", "keep-alive"}
_HANDSHAKE = {"upgrade", "sec-websocket-key", "sec-websocket-version", "sec-websocket-extensions"}


@dataclass
class Passed:
    """A request, or a WebSocket with all that the client said over it."""

    path: str
    headers: Mapping[str, str]
    bodies: list[bytes] = field(default_factory=list)
    refused: bool = False
    """It was to be a WebSocket, and is none."""


@dataclass
class Tap:
    """Stands before `url`."""

    url: str
    client: aiohttp.ClientSession
    passed: dict[str, Passed] = field(default_factory=dict)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Pass one request on."""
        name = request.headers.get(MARK) or str(len(self.passed))
        record = Passed(request.path, dict(request.headers))
        self.passed[name] = record
        headers = [(k, v) for k, v in request.headers.items() if k.lower() not in _OWN | {MARK}] + [(MARK, name)]
        if request.headers.get("upgrade", "").lower() == "websocket":
            return await self._talk(request, record, [pair for pair in headers if pair[0].lower() not in _HANDSHAKE])
        record.bodies.append(await request.read())
        async with self.client.request(
            request.method, self.url + request.raw_path, data=record.bodies[0] or None, headers=headers
        ) as answer:
            response = web.StreamResponse(status=answer.status, headers=_kept(answer.headers))
            await response.prepare(request)
            async for piece in answer.content.iter_any():
                await response.write(piece)
        return response

    async def _talk(self, request: web.Request, record: Passed, headers: list[tuple[str, str]]) -> web.StreamResponse:
        try:
            upstream = await self.client.ws_connect(self.url + request.raw_path, headers=headers, max_msg_size=0)
        except aiohttp.WSServerHandshakeError as error:
            record.refused = True
            return web.Response(status=error.status, text=error.message)
        client = web.WebSocketResponse(max_msg_size=0, compress=False)
        await client.prepare(request)
        async with upstream:
            down = asyncio.ensure_future(_pour(upstream, client, []))
            await _pour(client, upstream, record.bodies)
            await upstream.close()
            await down
        return client


Socket = aiohttp.ClientWebSocketResponse | web.WebSocketResponse


async def _pour(source: Socket, target: Socket, kept: list[bytes]) -> None:
    async for message in source:
        if message.type is WSMsgType.TEXT:
            kept.append(message.data.encode())
            await target.send_str(message.data)
        elif message.type is WSMsgType.BINARY:
            kept.append(message.data)
            await target.send_bytes(message.data)
    if not target.closed:
        await target.close(code=source.close_code or 1000)


def _kept(headers: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(name, value) for name, value in headers.items() if name.lower() not in _OWN]


@asynccontextmanager
async def tapped(url: str) -> AsyncIterator[tuple[Tap, str]]:
    """A tap before `url`, and its own URL."""
    async with aiohttp.ClientSession(auto_decompress=False, timeout=aiohttp.ClientTimeout(total=None)) as client:
        tap = Tap(url, client)
        app = web.Application(client_max_size=1 << 30)
        app.router.add_route("*", "/{path:.*}", tap.handle)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            host, port = runner.addresses[0][:2]
            yield tap, f"http://{host}:{port}"
        finally:
            await runner.cleanup()
