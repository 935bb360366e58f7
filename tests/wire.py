"""Both ends of a wire, byte by byte: an upstream that writes what a test says, and a client that reads what comes.

Libraries on either end would mend, decode or hide what these tests are about.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from ssl import SSLContext
from urllib.parse import urlsplit

PATIENCE = 20.0
"""Seconds after which a test fails rather than waits."""

Headers = list[tuple[str, str]]
JSON = ("content-type", "application/json")
EVENTS = ("content-type", "text/event-stream")
CHUNKED = ("transfer-encoding", "chunked")
LAST = b"0\r\n\r\n"
"""The end of a chunked body."""


class Torn(Exception):
    """The connection ended before the message did."""


class Stream:
    """Bytes that arrive on a connection."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader

    async def head(self) -> tuple[str, Headers]:
        """First line and headers."""
        try:
            raw = await self._reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError as error:
            raise Torn from error
        first, *lines = raw[:-4].decode("latin-1").split("\r\n")
        return first, [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines)]

    async def pieces(self, headers: Headers, *, to_end: bool = False) -> AsyncIterator[bytes]:
        """The body as it arrives; raises `Torn` where it ends too soon."""
        fields = {name.lower(): value for name, value in headers}
        if fields.get("transfer-encoding") == "chunked":
            while size := int(await self._line(), 16):
                yield await self._exactly(size)
                await self._line()
            await self._line()
        elif "content-length" in fields or not to_end:
            left = int(fields.get("content-length", 0))
            while left:
                piece = await self._some(left)
                left -= len(piece)
                yield piece
        else:
            with suppress(Torn):
                while True:
                    yield await self._some(1 << 16)

    async def end(self) -> None:
        """Return when the other side has closed."""
        with suppress(ConnectionError):
            while await self._reader.read(1 << 16):
                pass

    async def _line(self) -> bytes:
        line = await self._reader.readline()
        if not line.endswith(b"\n"):
            raise Torn
        return line.strip()

    async def _exactly(self, size: int) -> bytes:
        try:
            return await self._reader.readexactly(size)
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise Torn from error

    async def _some(self, limit: int) -> bytes:
        try:
            piece = await self._reader.read(limit)
        except ConnectionError as error:
            raise Torn from error
        if not piece:
            raise Torn
        return piece


@dataclass
class Call:
    """One request as an upstream got it, and the way to answer it."""

    method: str
    target: str
    headers: Headers
    writer: asyncio.StreamWriter
    pieces: list[bytes] = field(default_factory=list)
    came: asyncio.Condition = field(default_factory=asyncio.Condition)
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    """The other side has closed the connection."""

    @property
    def body(self) -> bytes:
        """All of the body that has arrived."""
        return b"".join(self.pieces)

    async def until(self, part: bytes) -> None:
        """Return when `part` of the body has arrived."""
        async with asyncio.timeout(PATIENCE), self.came:
            await self.came.wait_for(lambda: part in self.body)

    def header(self, name: str) -> list[str]:
        """All values of a header."""
        return [value for key, value in self.headers if key.lower() == name]

    async def write(self, data: bytes) -> None:
        """Put bytes on the wire."""
        self.writer.write(data)
        with suppress(ConnectionError):
            await self.writer.drain()

    def reset(self) -> None:
        """Break the connection."""
        self.writer.transport.abort()


Reply = Callable[[Call], Awaitable[None]]


def frame(status: int, headers: Iterable[tuple[str, str]], body: bytes | None) -> bytes:
    """The head of a response, and its body if it comes in one piece."""
    lines = [f"HTTP/1.1 {status} Told", *(f"{name}: {value}" for name, value in headers)]
    if body is not None:
        lines.append(f"content-length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + (body or b"")


def whole(body: bytes, status: int = 200, headers: Iterable[tuple[str, str]] = (JSON,)) -> Reply:
    """Answer in one piece."""

    async def reply(call: Call) -> None:
        await call.write(frame(status, headers, body))

    return reply


def chunk(data: bytes) -> bytes:
    """A piece of a chunked body."""
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def streamed(
    pieces: Iterable[bytes],
    headers: Iterable[tuple[str, str]] = (EVENTS,),
    *,
    broken: bool = False,
) -> Reply:
    """Answer in pieces, each written on its own; `broken`: the connection is reset instead of the end."""

    async def reply(call: Call) -> None:
        await call.write(frame(200, [*headers, CHUNKED], None))
        for piece in pieces:
            await call.write(chunk(piece))
            await asyncio.sleep(0)
        if broken:
            await asyncio.sleep(0.02)  # a reset may overtake what was written before it
            call.reset()
        else:
            await call.write(LAST)

    return reply


def held(first: bytes, second: bytes, headers: Iterable[tuple[str, str]] = (EVENTS,)) -> tuple[Reply, asyncio.Event]:
    """Answer in two pieces, the second once the event is set."""
    more = asyncio.Event()

    async def reply(call: Call) -> None:
        await call.write(frame(200, [*headers, CHUNKED], None) + chunk(first))
        async with asyncio.timeout(PATIENCE):
            await more.wait()
        await call.write(chunk(second) + LAST)

    return reply, more


class Upstream:
    """A server that keeps what it was sent and answers with `reply`."""

    def __init__(self, reply: Reply) -> None:
        self.reply = reply
        self.calls: list[Call] = []
        self.url = ""
        self._came = asyncio.Condition()

    @property
    def last(self) -> Call:
        """The newest request."""
        return self.calls[-1]

    async def call(self, number: int = 0) -> Call:
        """The request of this number, as soon as its head is there."""
        async with asyncio.timeout(PATIENCE), self._came:
            await self._came.wait_for(lambda: len(self.calls) > number)
        return self.calls[number]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        stream = Stream(reader)
        try:
            while await self._answer(stream, writer):
                pass
        except (Torn, ConnectionError):
            pass
        finally:
            writer.close()

    async def _answer(self, stream: Stream, writer: asyncio.StreamWriter) -> bool:
        first, headers = await stream.head()
        method, target, _ = first.split(" ")
        call = Call(method, target, headers, writer)
        async with self._came:
            self.calls.append(call)
            self._came.notify_all()
        try:
            async for piece in stream.pieces(headers):
                async with call.came:
                    call.pieces.append(piece)
                    call.came.notify_all()
        except Torn:
            call.gone.set()
            raise
        answering = asyncio.ensure_future(self.reply(call))
        leaving = asyncio.ensure_future(_closed(stream))
        await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if leaving.done():
            call.gone.set()
        leaving.cancel()
        await asyncio.gather(answering, leaving, return_exceptions=True)
        return not call.gone.is_set() and not writer.transport.is_closing()


async def _closed(stream: Stream) -> None:
    """Return when the peer has closed; a well-behaved one sends nothing before it has its answer."""
    while not stream._reader.at_eof():
        if stream._reader._exception is not None:  # type: ignore[attr-defined]
            return
        await asyncio.sleep(0.005)


@asynccontextmanager
async def upstream(reply: Reply, tls: SSLContext | None = None) -> AsyncIterator[Upstream]:
    """An upstream on a free port."""
    served = Upstream(reply)
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await served._serve(reader, writer)
        except asyncio.CancelledError:
            pass
        finally:
            tasks.discard(task)

    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=1 << 22, ssl=tls)
    served.url = f"{'https' if tls else 'http'}://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield served
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@dataclass(frozen=True)
class Answer:
    """A response as a client got it."""

    status: int
    headers: Headers
    body: bytes
    clean: bool
    """It came to its end."""

    def header(self, name: str) -> str | None:
        """The only value of a header."""
        values = [value for key, value in self.headers if key.lower() == name]
        assert len(values) < 2
        return values[0] if values else None


class Client:
    """One connection of a client."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writer = writer
        self.stream = Stream(reader)

    async def send(
        self, method: str, path: str, headers: Iterable[tuple[str, str]] = (), body: bytes | None = None
    ) -> None:
        """Send a request; without a body the caller may write one."""
        lines = [f"{method} {path} HTTP/1.1", "host: 127.0.0.1", *(f"{name}: {value}" for name, value in headers)]
        if body is not None:
            lines.append(f"content-length: {len(body)}")
        self.writer.write("\r\n".join([*lines, "", ""]).encode("latin-1") + (body or b""))
        with suppress(ConnectionError):
            await self.writer.drain()

    async def answer(self) -> Answer:
        """The whole response, or what there is of it."""
        async with asyncio.timeout(PATIENCE):
            first, headers = await self.stream.head()
            status, body, clean = int(first.split(" ")[1]), bytearray(), True
            try:
                async for piece in self.stream.pieces(headers, to_end=status not in (204, 304)):
                    body += piece
            except Torn:
                clean = False
        return Answer(status, headers, bytes(body), clean)

    async def write(self, data: bytes) -> None:
        """Send a piece of a body."""
        self.writer.write(data)
        await self.writer.drain()

    def leave(self) -> None:
        """Close without waiting for anything."""
        self.writer.transport.abort()


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[Client]:
    """A connection to a server."""
    at = urlsplit(url)
    reader, writer = await asyncio.open_connection(at.hostname, at.port, limit=1 << 22)
    try:
        yield Client(reader, writer)
    finally:
        writer.close()


async def ask(
    url: str, path: str, body: bytes | None, *, method: str = "POST", headers: Iterable[tuple[str, str]] = (JSON,)
) -> Answer:
    """One request on a connection of its own."""
    async with connected(url) as client:
        await client.send(method, path, headers, body)
        return await client.answer()
