"""Playback: compressed chunks can be read one by one, and nobody talks to a client that has left."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Callable
from typing import Any

import brotli  # type: ignore[import-untyped]
import pytest
import zstandard

from gateway.playback import Played, Received
from gateway.scenario import Fault

CHUNKS = [b"data: one\n\n", b"data: two\n\n"]


async def play(fault: Fault, left: bool = False) -> list[dict[str, Any]]:
    """The messages that an answer sends to its server."""
    received = Received("POST", "/", (), b"")
    if left:
        received.left.set()
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        if not left:
            await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    await Played(CHUNKS, fault, received, "text/event-stream")({"type": "http"}, receive, send)
    return sent


async def test_nothing_for_one_who_left() -> None:
    """Once the client has left no chunk is sent."""
    sent = await play(Fault(), left=True)
    assert [message.get("body") for message in sent[1:]] == [b""]


async def test_a_break_has_no_end() -> None:
    """A broken answer never says that it is over."""
    sent = await play(Fault(break_after=1))
    assert [message["body"] for message in sent[1:]] == CHUNKS[:1]
    assert sent[-1]["more_body"]


@pytest.mark.parametrize(
    ("encoding", "open_"),
    [
        ("gzip", lambda: zlib.decompressobj(31).decompress),
        ("deflate", lambda: zlib.decompressobj(15).decompress),
        ("br", lambda: brotli.Decompressor().process),
        ("zstd", lambda: zstandard.ZstdDecompressor().decompressobj().decompress),
    ],
)
async def test_compressed_chunks(encoding: str, open_: Callable[[], Callable[[bytes], bytes]]) -> None:
    """What arrived of a compressed stream can be read at once."""
    sent = await play(Fault(encoding=encoding))
    decompress = open_()
    assert [decompress(message["body"]) for message in sent[1:3]] == CHUNKS
