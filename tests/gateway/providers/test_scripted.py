"""The scripted provider over real sockets: what it says, what it records, and how it misbehaves."""

from __future__ import annotations

import asyncio
import gzip
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from gateway.providers.scripted import Scripted
from gateway.replies import Reply
from gateway.replies.chat_completions import read_reply
from gateway.scenario import Fault, Scenario, Turn
from gateway.serving import serving

BASH = {
    "type": "function",
    "function": {"name": "bash", "parameters": {"type": "object", "properties": {"command": {"type": "string"}}}},
}
ASK: dict[str, Any] = {"model": "any", "messages": [{"role": "user", "content": "grüß"}], "tools": [BASH]}
STREAM = ASK | {"stream": True}
TURN = Turn(text="Größe " * 12, shell=("ls", "pwd"))


@asynccontextmanager
async def provider(fault: Fault | None = None) -> AsyncIterator[tuple[Scripted, aiohttp.ClientSession]]:
    """A provider of one turn, and a client that undoes no encoding."""
    app = Scripted(Scenario((Turn(text=TURN.text, shell=TURN.shell, fault=fault),)))
    async with serving(app) as url, aiohttp.ClientSession(url, auto_decompress=False) as client:
        yield app, client


async def ask(client: aiohttp.ClientSession, request: dict[str, Any]) -> tuple[aiohttp.ClientResponse, bytes, bool]:
    """The response, what came of its body, and whether the connection broke."""
    body = b""
    async with client.post("/v1/chat/completions", json=request) as response:
        try:
            async for piece in response.content.iter_any():
                body += piece
        except aiohttp.ClientError:
            return response, body, True
    return response, body, False


def read(response: aiohttp.ClientResponse, body: bytes) -> Reply:
    """What a body says."""
    return read_reply(body, response.headers["content-type"], response.headers.get("content-encoding", ""))


@pytest.mark.parametrize(
    ("body", "status"),
    [
        pytest.param(b"", 400, id="nothing"),
        pytest.param(b"{", 400, id="bad JSON"),
        pytest.param(b"[]", 400, id="a list"),
        pytest.param(b'{"model": "m"}', 400, id="no messages"),
        pytest.param(b'{"messages": ["x"]}', 400, id="messages of the wrong type"),
    ],
)
async def test_unreadable_requests(body: bytes, status: int) -> None:
    """A request that cannot be read gets the API's error object."""
    async with provider() as (app, client), client.post("/v1/chat/completions", data=body) as response:
        assert response.status == status
        assert "cannot be read" in (await response.json())["error"]["message"]
        assert app.received[0].body == body


async def test_elsewhere() -> None:
    """Outside of /v1 there is nothing."""
    async with provider() as (_, client), client.get("/healthz") as response:
        assert response.status == 404


@pytest.mark.parametrize("request_", [pytest.param(ASK, id="whole"), pytest.param(STREAM, id="streamed")])
@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(None, id="plainly"),
        pytest.param(Fault(encoding="gzip"), id="gzip"),
        pytest.param(Fault(encoding="deflate"), id="deflate"),
        pytest.param(Fault(encoding="br"), id="br"),
        pytest.param(Fault(encoding="zstd", cut=3), id="zstd in pieces"),
        pytest.param(Fault(line_end="\r\n", cut=1), id="CRLF, byte by byte"),
        pytest.param(Fault(no_done=True), id="without an end mark"),
        pytest.param(Fault(delay_first=0.01, delay_each=0.001), id="slowly"),
    ],
)
async def test_says_the_turn(request_: dict[str, Any], fault: Fault | None) -> None:
    """The turn arrives whole, in whatever manner it is sent."""
    async with provider(fault) as (_, client):
        response, body, broke = await ask(client, request_)
    reply = read(response, body)
    assert (response.status, broke, reply.complete, reply.error) == (200, False, True, None)
    assert reply.message["content"] == TURN.text
    arguments = [call["function"]["arguments"] for call in reply.message["tool_calls"]]
    assert arguments == ['{"command": "ls"}', '{"command": "pwd"}']
    assert reply.finish_reason == "tool_calls"
    assert response.headers["x-request-id"] == "req_1"


async def test_usage_only_when_asked_for() -> None:
    """A stream states usage only with `include_usage`, in a chunk without choices; a prefix sent before is cached."""
    async with provider() as (_, client):
        first = read(*(await ask(client, STREAM))[:2])
        longer = STREAM | {"messages": [*ASK["messages"], {"role": "user", "content": "x" * 400}]}
        second = read(*(await ask(client, longer | {"stream_options": {"include_usage": True}}))[:2])
    assert first.usage is None
    assert second.usage is not None
    assert 0 < second.usage["prompt_tokens_details"]["cached_tokens"] < 30 < second.usage["prompt_tokens"]


@pytest.mark.parametrize("request_", [pytest.param(ASK, id="whole"), pytest.param(STREAM, id="streamed")])
async def test_status(request_: dict[str, Any]) -> None:
    """A failing turn has its status and `retry-after`; the retry gets the turn."""
    async with provider(Fault(status=429, retry_after=2)) as (_, client):
        refused, body, _ = await ask(client, request_)
        retried, again, _ = await ask(client, request_)
    assert (refused.status, refused.headers["retry-after"]) == (429, "2")
    assert "turn 0" in str(read(refused, body).error)
    assert read(retried, again).complete


async def test_always() -> None:
    """A fault of no times never ends."""
    async with provider(Fault(times=0, status=500)) as (_, client):
        assert [(await ask(client, ASK))[0].status for _ in range(3)] == [500] * 3


@pytest.mark.parametrize(
    ("request_", "count"), [pytest.param(ASK, 30, id="whole"), pytest.param(STREAM, 3, id="streamed")]
)
async def test_break(request_: dict[str, Any], count: int) -> None:
    """A connection that breaks is seen to break, after so many bytes or chunks."""
    async with provider(Fault(break_after=count)) as (_, client):
        response, body, broke = await ask(client, request_)
    assert (response.status, broke) == (200, True)
    assert not read(response, body).complete
    assert len(body) == count if request_ is ASK else body.count(b"data: ") == count


async def test_error_event() -> None:
    """An error inside a stream comes after its text, and the stream has no end mark."""
    async with provider(Fault(error_event="overloaded")) as (_, client):
        response, body, broke = await ask(client, STREAM)
    reply = read(response, body)
    assert (response.status, broke, reply.error, reply.complete) == (200, False, "overloaded", False)
    assert reply.message["content"] == TURN.text
    assert b"[DONE]" not in body


async def test_first_chunk_before_the_last() -> None:
    """Chunks are sent when they are due, not when all are there; compressed ones too."""
    async with provider(Fault(encoding="gzip", delay_each=0.05)) as (_, client):
        response = await client.post("/v1/chat/completions", json=STREAM)
        started = time.monotonic()
        await response.content.readany()
        first = time.monotonic()
        await response.read()
        assert first - started < (time.monotonic() - started) / 2


async def test_sees_the_client_leave() -> None:
    """A client that leaves in the middle is noticed at once."""
    async with provider(Fault(delay_each=0.02)) as (app, client):
        response = await client.post("/v1/chat/completions", json=STREAM)
        await response.content.readany()
        response.close()
        await asyncio.wait_for(app.received[0].left.wait(), 1)


async def test_who_stays_is_not_taken_to_have_left() -> None:
    """A client that reads to the end has not left."""
    async with provider() as (app, client):
        await ask(client, STREAM)
        await asyncio.sleep(0.05)
        assert not app.received[0].left.is_set()


async def test_records(tmp_path: Path) -> None:
    """Every request is kept with the bytes that came, in memory and as JSON lines."""
    record = tmp_path / "requests.jsonl"
    app = Scripted(Scenario((TURN,)), record)
    body = gzip.compress(json.dumps(ASK).encode())
    async with serving(app) as url, aiohttp.ClientSession(url) as client:
        await client.post("/v1/chat/completions", data=body, headers={"content-encoding": "gzip", "x-a": "b"})
        assert (await (await client.get("/v1/models")).json())["data"][0]["id"] == "scripted"
        echoed = await client.put("/v1/files?x=1", data=b"\x00\xff", headers={"content-type": "a/b"})
        assert (await echoed.read(), echoed.content_type) == (b"\x00\xff", "a/b")
    assert [(r.method, r.path) for r in app.received] == [
        ("POST", "/v1/chat/completions"),
        ("GET", "/v1/models"),
        ("PUT", "/v1/files"),
    ]
    assert app.received[0].body == body
    assert ("x-a", "b") in app.received[0].headers
    rows = [json.loads(line) for line in record.read_text("ascii").split("\n")[:-1]]
    assert [row["body"].encode("utf-8", "surrogateescape") for row in rows] == [r.body for r in app.received]
