"""The life of one exchange, every step in order on one page.

`Exchange` is the one mutable object of the walk. It is born, filled and closed in `Walk.run` and leaves it as a
closed record, handed over synchronously: nothing can cancel that.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field

import structlog
from starlette.types import Message as ASGIMessage
from starlette.types import Receive, Scope, Send

from gateway import heavy, inbound
from gateway.config import OPENAI, Config, Rewriting, Upstream
from gateway.continuing import Continuing
from gateway.errors import GatewayError, NothingToRead, UnknownModel
from gateway.identity import chain as chain_of
from gateway.inbound import ClientLeft, Inbound, Upload
from gateway.providers import Route, Routes, spoken
from gateway.reading import Reader
from gateway.remembering.injecting import Injector
from gateway.rewriter import Outgoing, Rewriter
from gateway.sessions import History, Sessions, named_session
from gateway.shapes import BESIDE, Shape, anthropic_messages, spoken_at
from gateway.spans import MalformedJSON, members, string
from gateway.types import Answer, Conversation, Headers, Outcome, Request
from rules_engine import RuleSet

REPLY_LIMIT = 32 << 20
"""Bytes of an answer that are kept for the archive and the accounts; the client gets all of them."""


@dataclass(slots=True, kw_only=True)
class Exchange:
    """One request and all that comes of it."""

    id: str
    method: str
    path: str
    started: float
    tenant: str = ""
    shape: Shape | None = None
    upstream: str = ""
    body: bytes = b""
    conversation: Conversation | None = None
    history: History | None = None
    outgoing: Outgoing | None = None
    prefix_whole: bool = True
    status: int | None = None
    answer_headers: Headers = ()
    first_byte: float | None = None
    ended: float = 0.0
    reply: list[bytes] = field(default_factory=list)
    reply_size: int = 0
    outcome: Outcome = "abandoned"
    """Until it is known better."""
    error: str | None = None
    late_commit: bool = False

    def hear(self, chunk: bytes, now: float) -> None:
        """Listen in passing to what goes to the client."""
        if self.first_byte is None:
            self.first_byte = now
        self.reply_size += len(chunk)
        if self.reply_size <= REPLY_LIMIT:
            self.reply.append(chunk)


Offer = Callable[[Exchange], None]
Rules = Callable[[Exchange, Inbound], RuleSet]
"""The rules of the session that an exchange, with this head, belongs to."""


class Walk:
    """What every exchange needs; wired once in `gateway.app.build`."""

    def __init__(
        self,
        *,
        config: Config,
        routes: Routes,
        rewriter: Rewriter,
        sessions: Sessions,
        rules: Rules,
        offer: Offer,
        clock: Callable[[], float],
        injector: Injector | None = None,
    ) -> None:
        """Without an `injector` nothing is put into a request but decisions."""
        self._config = config
        self._routes = routes
        self._rewriter = rewriter
        self._sessions = sessions
        self._rules = rules
        self._injector = injector
        self._offer = offer
        self._clock = clock
        self._reader = Reader()
        self._continuing = Continuing()

    async def run(self, scope: Scope, receive: Receive, send: Send, shape: Shape | None) -> None:
        """One exchange from first byte to record. Without a shape the request is no turn, and passed on."""
        got = inbound.read_head(scope)
        exchange = Exchange(id=got.id, method=got.method, path=got.path, started=self._clock(), shape=shape)
        client = Client(send, exchange, self._clock)
        try:
            exchange.tenant = inbound.admit(got, self._config)
            upload = None
            if shape is None and not inbound.is_json(got):
                upload = inbound.Upload(receive)
            else:
                exchange.body = await inbound.read_body(receive, got, self._config.server.max_body_mb)
            await inbound.unless_left(receive, self._serve(exchange, got, client, upload), upload)
        except ClientLeft:
            if exchange.outcome != "completed":
                exchange.error = "the client left"
        except GatewayError as error:
            exchange.outcome, exchange.error = "failed", error.message
            await client.fail(error, spoken_at(got.path, got.fields))
        except asyncio.CancelledError:
            exchange.error = "the gateway was stopped"
            raise
        except Exception as error:
            exchange.outcome, exchange.error = "failed", f"{type(error).__name__}: {error}"
            structlog.get_logger("taco").exception("request failed", request=exchange.id)
            await client.fail(own_fault(exchange), spoken_at(got.path, got.fields))
        finally:
            self.close(exchange)

    def close(self, exchange: Exchange) -> None:
        """The end of an exchange: it is handed over."""
        exchange.ended = self._clock()
        conversation = exchange.conversation
        if (
            conversation
            and conversation.kept
            and exchange.outcome == "completed"
            and exchange.reply_size <= REPLY_LIMIT
        ):
            reply = b"".join(exchange.reply)
            self._continuing.keep(conversation, exchange.tenant, exchange.body, reply, exchange.answer_headers)
        self._offer(exchange)

    async def _serve(self, exchange: Exchange, got: Inbound, client: Client, upload: Upload | None) -> None:
        if exchange.shape is not None:
            request, route = await self.prepare(exchange, exchange.shape, got)
        elif upload is None and got.method == "POST" and (shape := BESIDE.get(got.path.partition("?")[0])):
            request, route = await self._repeat(exchange, shape, got)
        else:
            request, route = self._pass_on(exchange, got, upload)
        answer = await route.provider.send(request)
        try:
            await self.commit(exchange)
            await client.relay(answer)
            exchange.outcome = "completed"
        finally:
            await answer.aclose()

    def _pass_on(self, exchange: Exchange, got: Inbound, upload: Upload | None) -> tuple[Request, Route]:
        """The same bytes, to the upstream that serves the model if the body names one."""
        model = peek_model(exchange.body) if exchange.body else None
        route = self._routes.find(model) if model else self._routes.default(spoken(got.fields))
        exchange.upstream = route.upstream.name
        body = exchange.body if upload is None else upload.chunks() if may_have_body(got) else b""
        if upload is not None and body == b"":
            upload.ended.set()
        return _request(got, got.headers, body, model, stream=False), route

    async def prepare(self, exchange: Exchange, shape: Shape, got: Inbound) -> tuple[Request, Route]:
        """Read, recognise, decide: from the client's bytes to the bytes that are forwarded."""
        try:
            packed, conversation = await self._read(exchange, shape, got)
        except NothingToRead:
            return self._pass_on(exchange, got, None)
        exchange.conversation = conversation
        route = self._route(exchange, shape, conversation.model)
        chain = chain_of(conversation, exchange.tenant)
        history = self._sessions.resume(conversation, chain, named_session(got.fields, conversation.session))
        exchange.history = history
        outgoing = Outgoing(body=exchange.body, kept={"off": 1})
        if may_rewrite(self._config.rewriting, route.upstream, got):
            outgoing = await self._rewriter.rewrite(
                exchange.body,
                conversation,
                tenant=exchange.tenant,
                chain=chain,
                known=history.known,
                allowed=lambda tool: tool not in self._config.rewriting.tools_off,
                ruleset=lambda: self._rules(exchange, got),
            )
        if self._injector:
            outgoing = await self._injector.apply(outgoing, conversation, tenant=exchange.tenant, chain=chain)
        exchange.outgoing = outgoing
        exchange.prefix_whole = self._sessions.remember(conversation, chain, history, outgoing.digests)
        return _forwarding(exchange, got, conversation, outgoing.body, packed), route

    async def _repeat(self, exchange: Exchange, shape: Shape, got: Inbound) -> tuple[Request, Route]:
        """A history that is sent for another purpose than an answer: what the model reads of it, and nothing decided."""
        try:
            packed, conversation = await self._read(exchange, shape, got)
        except NothingToRead:
            return self._pass_on(exchange, got, None)
        route = self._route(exchange, shape, conversation.model)
        body = exchange.body
        if may_rewrite(self._config.rewriting, route.upstream, got):
            outgoing = await self._rewriter.rewrite(
                body,
                conversation,
                tenant=exchange.tenant,
                chain=chain_of(conversation, exchange.tenant),
                known=len(conversation.messages),
                allowed=lambda tool: False,
                ruleset=RuleSet,
            )
            body = outgoing.body
        return _forwarding(exchange, got, conversation, body, packed), route

    async def _read(self, exchange: Exchange, shape: Shape, got: Inbound) -> tuple[bytes, Conversation]:
        """The body as it came, which is kept without its content encoding, and what is in it."""
        packed = exchange.body
        plain = inbound.decoded(packed, got, self._config.server.max_body_mb)
        conversation = await heavy.run(len(plain) > heavy.BODY, self._reader.read, shape, plain)
        exchange.body = plain
        return packed, self._continuing.whole(conversation, exchange.tenant)

    def _route(self, exchange: Exchange, shape: Shape, model: str) -> Route:
        route = self._routes.find(model)
        if shape is anthropic_messages and route.upstream.url == OPENAI.url:  # it gets no key of another maker's
            raise UnknownModel(f"OpenAI does not speak this API: name its model openai/{model}", param="model")
        exchange.upstream = route.upstream.name
        return route

    async def commit(self, exchange: Exchange) -> None:
        """Wait for the decisions to be safe, before the first byte that the client could act on."""
        committed = exchange.outgoing.committed if exchange.outgoing else None
        if committed is None:
            return
        try:
            async with asyncio.timeout(self._config.store.commit_seconds):
                exchange.late_commit = not await committed()
        except TimeoutError:
            exchange.late_commit = True  # the answer goes on; this process replays the decisions from memory


class Client:
    """The client's side of an exchange: what goes out to it."""

    def __init__(self, send: Send, exchange: Exchange, clock: Callable[[], float]) -> None:
        self._send = send
        self._exchange = exchange
        self._clock = clock
        self.started = False
        self._tail = b""

    async def relay(self, answer: Answer) -> None:
        """Status, headers and body as they come; nothing is held back."""
        exchange = self._exchange
        exchange.status, exchange.answer_headers = answer.status, answer.headers
        await self._start(answer.status, answer.headers)
        async with aclosing(answer.chunks()) as chunks:
            async for chunk in chunks:
                exchange.hear(chunk, self._clock())
                self._tail = chunk[-4:] if len(chunk) > 3 else (self._tail + chunk)[-4:]
                await self._send({"type": "http.response.body", "body": chunk, "more_body": True})
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def fail(self, error: GatewayError, shape: Shape) -> None:
        """The shape's error body; inside a stream one error event and then the break, never a clean end."""
        if not self.started:
            self._exchange.status = error.status
            body = shape.error_body(error)
            length = str(len(body)).encode()
            await self._start(error.status, ((b"content-type", b"application/json"), (b"content-length", length)))
            await self._send({"type": "http.response.body", "body": body, "more_body": False})
            return
        if self._takes_events():
            await self._send({"type": "http.response.body", "body": shape.error_event(error), "more_body": True})
        raise error  # the server closes the connection without an end

    def _takes_events(self) -> bool:
        """It is a plain stream, and no event is under way: what is added to half an event would be read as part of it."""
        headers = dict(self._exchange.answer_headers)
        kind = headers.get(b"content-type", b"")
        plain = kind.startswith(b"text/event-stream") and not headers.get(b"content-encoding")
        return plain and (not self._tail or self._tail.endswith((b"\n\n", b"\r\n\r\n", b"\r\r")))

    async def _start(self, status: int, headers: Headers) -> None:
        self.started = True
        mine = (b"x-taco-request-id", self._exchange.id.encode())
        message: ASGIMessage = {"type": "http.response.start", "status": status, "headers": [*headers, mine]}
        await self._send(message)


def own_fault(exchange: Exchange) -> GatewayError:
    """What a client is told where the gateway failed."""
    return GatewayError(f"the gateway failed; its log says why under request {exchange.id}: please report it")


def _forwarding(exchange: Exchange, got: Inbound, conversation: Conversation, body: bytes, packed: bytes) -> Request:
    """The request with another body, or as it came."""
    changed = body is not exchange.body
    headers = inbound.without(got.headers, b"content-encoding") if changed else got.headers
    return _request(got, headers, body if changed else packed, conversation.model, conversation.stream)


def may_rewrite(rewriting: Rewriting, upstream: Upstream, got: Inbound) -> bool:
    """Rewriting is on everywhere: in general, for the upstream, for the request."""
    return rewriting.enabled and upstream.rewrite and got.fields.get("x-taco-rewrite", "on").lower() not in ("off", "0")


def peek_model(body: bytes) -> str | None:
    """The model that a JSON body names, if it names one."""
    try:
        model = next((m for m in members(body, 0, len(body))[0] if m.key == "model"), None)
    except MalformedJSON:
        return None
    return string(body, model.start, model.end) if model else None


def may_have_body(got: Inbound) -> bool:
    """The head announces a body."""
    return got.fields.get("content-length", "0") != "0" or "transfer-encoding" in got.fields


def _request(
    got: Inbound, headers: Headers, body: bytes | AsyncIterator[bytes], model: str | None, stream: bool
) -> Request:
    return Request(id=got.id, method=got.method, path=got.path, headers=headers, body=body, model=model, stream=stream)
