"""WebSockets: frames go both ways as they come; what asks for a response is an exchange like any other.

client ─message→ (response.create: Walk.prepare) ─→ provider ─event→ (the exchange in its lane hears it) ─→ client

The provider is asked first, so that its refusal is the client's, who then goes on over HTTP.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict, deque
from collections.abc import Callable

import msgspec
import structlog
from starlette.types import Receive, Scope, Send

from gateway import inbound
from gateway.config import Config
from gateway.errors import BadRequest, GatewayError, UpgradeRefused, UpgradeRequired
from gateway.exchange import Exchange, Walk, own_fault
from gateway.inbound import Inbound
from gateway.listening import LEAVE
from gateway.providers import Connects, Route, Routes, spoken
from gateway.shapes import responses, spoken_at
from gateway.types import Channel, Headers, Request

NOT_SERVED = frozenset({200, 400, 404, 405, 426, 501})
"""Statuses by which an upstream says that it has no WebSocket at a path; 426 makes clients fall back to HTTP at once."""

_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed", "error"})
_GOOD_ENDS = frozenset({"response.completed", "response.incomplete"})
_EVENTS: Headers = ((b"content-type", b"text/event-stream"),)
"""What the answer's record is read as."""
_BROKEN, _RESTART = 1011, 1012
_KEPT_TO_OURSELVES = (b"sec-websocket-", b"upgrade", b"connection", b"date", b"content-length")


class _Frame(msgspec.Struct):
    """What a message says of itself."""

    type: str = ""
    stream_id: str | None = None


_read = msgspec.json.Decoder(_Frame).decode


class WebSockets:
    """Serves WebSockets under the provider's paths."""

    def __init__(self, walk: Walk, routes: Routes, config: Config, clock: Callable[[], float]) -> None:
        self._walk = walk
        self._routes = routes
        self._config = config
        self._clock = clock

    async def run(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One connection, from the handshake to its end."""
        got = inbound.read_head(scope)
        await receive()  # the client wants to connect
        try:
            tenant = inbound.admit(got, self._config)
            route = self._routes.default(spoken(got.fields))
            channel = await _connect(route, got, scope["subprotocols"])
        except GatewayError as error:
            await _deny(error, got, send)
            return
        mine = (b"x-taco-request-id", got.id.encode())
        headers = [pair for pair in channel.headers if not pair[0].startswith(_KEPT_TO_OURSELVES)]
        try:
            await send({"type": "websocket.accept", "subprotocol": channel.protocol, "headers": [*headers, mine]})
            connection = _Connection(self._walk, got, tenant, route, channel, receive, send, self._clock)
            await connection.run()
        finally:
            await channel.aclose()


class _Connection:
    """One WebSocket between a client and a provider."""

    def __init__(
        self,
        walk: Walk,
        got: Inbound,
        tenant: str,
        route: Route,
        channel: Channel,
        receive: Receive,
        send: Send,
        clock: Callable[[], float],
    ) -> None:
        self._walk = walk
        self._got = got
        self._tenant = tenant
        self._route = route
        self._channel = channel
        self._receive = receive
        self._send = send
        self._clock = clock
        self._count = 0
        self._lanes: dict[str | None, deque[Exchange]] = defaultdict(deque)
        """Exchanges that wait for their answer, by stream: each stream answers in order."""
        self._leaving = False
        """The gateway stops: the connection ends once nobody waits for an answer."""

    async def run(self) -> None:
        """Relay until either side ends."""
        down = asyncio.ensure_future(self._from_provider())
        up = asyncio.ensure_future(self._from_client())
        why = "the gateway was stopped"
        try:
            await asyncio.wait({down, up}, return_when=asyncio.FIRST_COMPLETED)
            why = "the client left" if up.done() else "the upstream ended the connection"
            await self._close(down if down.done() else up)
        finally:
            for task in (down, up):
                task.cancel()
            await asyncio.gather(down, up, return_exceptions=True)
            for exchange in (one for lane in self._lanes.values() for one in lane):
                exchange.outcome = "failed" if why.startswith("the upstream") else "abandoned"
                exchange.error = why
                self._walk.close(exchange)

    async def _close(self, ended: asyncio.Future[int]) -> None:
        """Tell the other side, in the words of the one that ended; a break is never told as a clean end."""
        problem = ended.exception()
        if problem is not None and not isinstance(problem, OSError | GatewayError):
            structlog.get_logger("taco").error("WebSocket failed", request=self._got.id, exc_info=problem)
        code = _BROKEN if problem is not None else _speakable(ended.result())
        try:
            await self._channel.aclose(code)
            await self._send({"type": "websocket.close", "code": code, "reason": self._channel.reason})
        except (OSError, RuntimeError):
            pass  # it is gone

    async def _from_client(self) -> int:
        """Pass on what the client says; the value is the code with which it ends."""
        while True:
            message = await self._receive()
            if message["type"] == "websocket.disconnect":
                return int(message.get("code") or 1000)
            if message["type"] == LEAVE:
                self._leaving = True
                if self._rests():
                    return _RESTART
                continue
            text = message.get("text")
            if text is None:
                await self._channel.send(message["bytes"])
            elif (passed := await self._heard(text)) is not None:
                await self._channel.send(passed)

    async def _heard(self, text: str) -> str | None:
        """What is passed on of a message; `None` where the client has been told that nothing is."""
        frame = _peek(text)
        if frame.type != "response.create" or not self._got.path.startswith(responses.PATH):
            return text
        self._count += 1
        exchange = Exchange(
            id=f"{self._got.id}-{self._count}",
            method="WEBSOCKET",
            path=self._got.path,
            started=self._clock(),
            tenant=self._tenant,
            shape=responses,
            body=text.encode(),
            answer_headers=_EVENTS,
        )
        try:
            request = await self._prepare(exchange)
        except GatewayError as error:
            await self._refuse(exchange, frame, error)
            return None
        except Exception:
            structlog.get_logger("taco").exception("request failed", request=exchange.id)
            await self._refuse(exchange, frame, own_fault(exchange))
            return None
        self._lanes[frame.stream_id].append(exchange)
        return request.body.decode() if isinstance(request.body, bytes) else text

    async def _prepare(self, exchange: Exchange) -> Request:
        request, route = await self._walk.prepare(exchange, responses, self._got)
        if route is not self._route:
            raise BadRequest(
                f"model '{request.model}' is served by upstream '{route.upstream.name}', and this WebSocket leads to "
                f"'{self._route.upstream.name}': send the request over HTTP",
                param="model",
            )
        return request

    async def _refuse(self, exchange: Exchange, frame: _Frame, error: GatewayError) -> None:
        exchange.outcome, exchange.error, exchange.status = "failed", error.message, error.status
        self._walk.close(exchange)
        said = {"type": "error", "status": error.status, **json.loads(responses.error_body(error))}
        await self._tell(json.dumps(said | ({"stream_id": frame.stream_id} if frame.stream_id else {})))

    async def _from_provider(self) -> int:
        """Pass on what the provider says; the value is the code with which it ends."""
        async for message in self._channel.messages():
            if isinstance(message, bytes):
                await self._send({"type": "websocket.send", "bytes": message})
                continue
            frame = _peek(message)
            exchange = self._answered_by(frame)
            if exchange is None:
                await self._tell(message)
                continue
            if exchange.first_byte is None:
                exchange.status = 200
                await self._walk.commit(exchange)
            exchange.hear(b"data: %b\n\n" % message.encode(), self._clock())
            await self._tell(message)
            if frame.type in _ENDS:
                self._end(exchange, frame)
                if self._leaving and self._rests():
                    return _RESTART
        return self._channel.code

    def _answered_by(self, frame: _Frame) -> Exchange | None:
        lane = self._lanes.get(frame.stream_id)
        if lane:
            return lane[0]
        waiting = [lane[0] for lane in self._lanes.values() if lane]
        # an error that names no stream is about the only request there is
        return waiting[0] if frame.type == "error" and frame.stream_id is None and len(waiting) == 1 else None

    def _end(self, exchange: Exchange, frame: _Frame) -> None:
        for lane in self._lanes.values():
            if lane and lane[0] is exchange:
                lane.popleft()
        exchange.outcome = "completed" if frame.type in _GOOD_ENDS else "failed"
        self._walk.close(exchange)

    def _rests(self) -> bool:
        return not any(self._lanes.values())

    async def _tell(self, text: str) -> None:
        await self._send({"type": "websocket.send", "text": text})


async def _connect(route: Route, got: Inbound, protocols: list[str]) -> Channel:
    if not isinstance(route.provider, Connects):
        raise UpgradeRequired("WebSocket is not served here: send the request over HTTP")
    headers = tuple(pair for pair in got.headers if not pair[0].startswith(b"sec-websocket-"))
    request = Request(id=got.id, method="GET", path=got.path, headers=headers, body=b"", model=None, stream=True)
    try:
        return await route.provider.connect(request, protocols)
    except UpgradeRefused as error:
        if error.answered not in NOT_SERVED:
            raise
        raise UpgradeRequired(f"{error.message}: send the request over HTTP") from error


async def _deny(error: GatewayError, got: Inbound, send: Send) -> None:
    """Answer the handshake with an error."""
    body = spoken_at(got.path, got.fields).error_body(error)
    headers = [
        *(error.headers if isinstance(error, UpgradeRefused) else ()),
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"x-taco-request-id", got.id.encode()),
    ]
    status = error.answered if isinstance(error, UpgradeRefused) else error.status
    await send({"type": "websocket.http.response.start", "status": status, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": body})


def _peek(text: str) -> _Frame:
    try:
        return _read(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return _Frame()


def _speakable(code: int) -> int:
    """A code that may be sent: some only stand for what was not said."""
    return code if code in range(1000, 1004) or code in range(1007, 1015) or code in range(3000, 5000) else _BROKEN
