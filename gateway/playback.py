"""How an answer is put on the wire: whole, in pieces, compressed, slowly, or not to the end."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field

import brotli  # type: ignore[import-untyped]
import zstandard
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gateway.scenario import Fault


@dataclass(frozen=True, slots=True)
class Received:
    """One request as it arrived, and whether its sender left before the answer was whole."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    left: asyncio.Event = field(default_factory=asyncio.Event)


class Played(Response):
    """Chunks, sent in the manner that a fault asks for."""

    def __init__(self, chunks: list[bytes], fault: Fault, received: Received, media_type: str) -> None:
        headers = {"content-type": media_type}
        if fault.encoding:
            headers["content-encoding"] = fault.encoding
        super().__init__(headers=headers)
        del self.headers["content-length"]
        self._broken = fault.break_after is not None
        self._parts = list(_press(chunks, fault.encoding))
        if media_type == "application/json":
            self.headers["content-length"] = str(len(b"".join(self._parts)))
            self._parts = [b"".join(self._parts)[: fault.break_after]]
        self._parts = self._parts[: fault.break_after]
        self._fault = fault
        self._received = received

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send head and parts until all are out, the sender has left, or the scenario breaks the connection."""
        watch = asyncio.create_task(self._watch(receive))
        try:
            await asyncio.sleep(self._fault.delay_first)
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            async for part in self._paced():
                await send({"type": "http.response.body", "body": part, "more_body": True})
        finally:
            watch.cancel()
        if not self._broken:
            await send({"type": "http.response.body", "body": b""})

    async def _paced(self) -> AsyncIterator[bytes]:
        for number, part in enumerate(self._parts):
            if self._received.left.is_set():
                return
            if number:
                await asyncio.sleep(self._fault.delay_each)
            size = self._fault.cut or len(part) or 1
            for at in range(0, len(part), size):
                yield part[at : at + size]
                await asyncio.sleep(0)

    async def _watch(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._received.left.set()


def _press(chunks: list[bytes], encoding: str | None) -> Iterator[bytes]:
    """The chunks, compressed so that each can be read as soon as it is there."""
    press: tuple[Callable[[bytes], bytes], Callable[[], bytes], Callable[[], bytes]]
    match encoding:
        case "gzip" | "deflate":
            squeeze = zlib.compressobj(wbits=31 if encoding == "gzip" else 15)
            press = squeeze.compress, lambda: squeeze.flush(zlib.Z_SYNC_FLUSH), squeeze.flush
        case "br":
            brotlied = brotli.Compressor(quality=4)
            press = brotlied.process, brotlied.flush, brotlied.finish
        case "zstd":
            framed = zstandard.ZstdCompressor().compressobj()
            press = framed.compress, lambda: framed.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK), framed.flush
        case _:
            press = bytes, bytes, bytes
    add, push, end = press
    for chunk in chunks:
        yield add(chunk) + push()
    yield end()
