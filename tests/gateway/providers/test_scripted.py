"""The scripted provider over real sockets: what it says, what it records, and how it misbehaves."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from gateway.providers.scripted import Scripted
from gateway.replies import Reply, anthropic_messages, chat_completions, responses
from gateway.scenario import Fault, Scenario, Turn
from gateway.serving import serving

SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
USER = {"role": "user", "content": "grüß"}
TURN = Turn(text="Größe " * 12, reasoning="Hm.", shell=("ls", "pwd"))


@dataclass(frozen=True)
class Form:
    """An API form: where it is spoken, what a request is, how the answer is read."""

    path: str
    ask: dict[str, Any]
    read_reply: Callable[[bytes, str, str], Reply]
    history: str = "messages"

    def read(self, response: aiohttp.ClientResponse, body: bytes) -> Reply:
        """What a body says."""
        return self.read_reply(body, response.headers["content-type"], response.headers.get("content-encoding", ""))


CHAT = Form(
    "/v1/chat/completions",
    {
        "model": "any",
        "messages": [USER],
        "tools": [{"type": "function", "function": {"name": "bash", "parameters": SCHEMA}}],
    },
    chat_completions.read_reply,
)
RESPONSES = Form(
    "/v1/responses",
    {"model": "any", "input": [USER], "tools": [{"type": "function", "name": "bash", "parameters": SCHEMA}]},
    responses.read_reply,
    "input",
)
MESSAGES = Form(
    "/v1/messages?beta=true",
    {"model": "any", "max_tokens": 9, "messages": [USER], "tools": [{"name": "Bash", "input_schema": SCHEMA}]},
    anthropic_messages.read_reply,
)
FORMS = [
    pytest.param(CHAT, id="chat completions"),
    pytest.param(RESPONSES, id="Responses"),
    pytest.param(MESSAGES, id="Messages"),
]
WAYS = [pytest.param(False, id="whole"), pytest.param(True, id="streamed")]


@asynccontextmanager
async def provider(fault: Fault | None = None) -> AsyncIterator[tuple[Scripted, aiohttp.ClientSession]]:
    """A provider of one turn, and a client that undoes no encoding."""
    app = Scripted(Scenario((Turn(text=TURN.text, reasoning=TURN.reasoning, shell=TURN.shell, fault=fault),)))
    async with serving(app) as url, aiohttp.ClientSession(url, auto_decompress=False) as client:
        yield app, client


async def ask(
    client: aiohttp.ClientSession, form: Form, streamed: bool = False, **more: Any
) -> tuple[aiohttp.ClientResponse, bytes, bool]:
    """The response, what came of its body, and whether the connection broke."""
    body = b""
    async with client.post(form.path, json={**form.ask, "stream": streamed, **more}) as response:
        try:
            async for piece in response.content.iter_any():
                body += piece
        except aiohttp.ClientError:
            return response, body, True
    return response, body, False


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"{", id="bad JSON"),
        pytest.param(b"[]", id="a list"),
        pytest.param(b'{"model": "m", "input": 7}', id="no messages"),
        pytest.param(b'{"messages": ["x"], "input": ["x"]}', id="messages of the wrong type"),
    ],
)
async def test_unreadable_requests(body: bytes, form: Form) -> None:
    """A request that cannot be read gets the form's error object."""
    async with provider() as (app, client), client.post(form.path, data=body) as response:
        assert response.status == 400
        said = await response.json()
        assert "cannot be read" in said["error"]["message"]
        assert (said.get("type") == "error") == (form is MESSAGES)
        assert app.received[0].body == body


async def test_elsewhere() -> None:
    """Outside of /v1 there is nothing; the root itself can be asked for, as some agents do first."""
    async with provider() as (_, client):
        assert (await client.get("/healthz")).status == 404
        assert (await client.head("/")).status == 200


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("streamed", WAYS)
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
async def test_says_the_turn(form: Form, streamed: bool, fault: Fault | None) -> None:
    """The turn arrives whole, in whatever manner it is sent."""
    async with provider(fault) as (_, client):
        response, body, broke = await ask(client, form, streamed)
    reply = form.read(response, body)
    assert (response.status, broke, reply.complete, reply.error) == (200, False, True, None)
    assert reply.words.startswith(TURN.text)
    assert re.findall(r"command\W+(\w+)", reply.words) == ["ls", "pwd"]
    assert TURN.reasoning in json.dumps(reply.message)
    assert response.headers["request-id" if form is MESSAGES else "x-request-id"] == "req_1"


async def test_usage_only_when_asked_for() -> None:
    """A stream of chunks states usage only with `include_usage`; a prefix sent before is cached."""
    async with provider() as (_, client):
        first = CHAT.read(*(await ask(client, CHAT, True))[:2])
        longer = [USER, {"role": "user", "content": "x" * 400}]
        answer = await ask(client, CHAT, True, messages=longer, stream_options={"include_usage": True})
        second = CHAT.read(*answer[:2])
    assert first.usage is None
    assert second.usage is not None
    assert 0 < second.usage["prompt_tokens_details"]["cached_tokens"] < 30 < second.usage["prompt_tokens"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("streamed", WAYS)
async def test_status(form: Form, streamed: bool) -> None:
    """A failing turn has its status and `retry-after`; the retry gets the turn."""
    async with provider(Fault(status=429, retry_after=2)) as (_, client):
        refused, body, _ = await ask(client, form, streamed)
        retried, again, _ = await ask(client, form, streamed)
    assert (refused.status, refused.headers["retry-after"]) == (429, "2")
    assert "turn 0" in str(form.read(refused, body).error)
    assert form.read(retried, again).complete


async def test_always() -> None:
    """A fault of no times never ends."""
    async with provider(Fault(times=0, status=500)) as (_, client):
        assert [(await ask(client, CHAT))[0].status for _ in range(3)] == [500] * 3


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("streamed", "count"), [(False, 30), (True, 3)], ids=["whole", "streamed"])
async def test_break(form: Form, streamed: bool, count: int) -> None:
    """A connection that breaks is seen to break, after so many bytes or chunks."""
    async with provider(Fault(break_after=count)) as (_, client):
        response, body, broke = await ask(client, form, streamed)
    assert (response.status, broke) == (200, True)
    assert not form.read(response, body).complete
    assert body.count(b"data: ") == count if streamed else len(body) == count


@pytest.mark.parametrize("form", FORMS)
async def test_error_event(form: Form) -> None:
    """An error inside a stream comes after its text, and the stream has no end mark."""
    async with provider(Fault(error_event="overloaded")) as (_, client):
        response, body, broke = await ask(client, form, True)
    reply = form.read(response, body)
    assert (response.status, broke, reply.error, reply.complete) == (200, False, "overloaded", False)
    assert TURN.text in reply.words
    assert b"[DONE]" not in body


@pytest.mark.parametrize("form", FORMS)
async def test_a_turn_that_reads(form: Form) -> None:
    """It acts on the tool output that reached it, and ends where it finds nothing."""
    turns = Turn(shell=("ls",)), Turn(find=r"see (\w+)", text="It is {found}.", shell=("cat {found}",))
    results: dict[str, Callable[[str], list[dict[str, Any]]]] = {
        CHAT.path: lambda text: [{"role": "assistant"}, {"role": "tool", "content": text}],
        RESPONSES.path: lambda text: [{"type": "function_call"}, {"type": "function_call_output", "output": text}],
        MESSAGES.path: lambda text: [
            {"role": "assistant", "content": []},
            {"role": "user", "content": [{"type": "tool_result", "content": text}]},
        ],
    }
    async with serving(Scripted(Scenario(turns))) as url, aiohttp.ClientSession(url) as client:
        for text, words in (("see this", "It is this."), ("see", "Nothing that I was told matches")):
            history: dict[str, Any] = {form.history: [USER, *results[form.path](text)]}
            reply = form.read(*(await ask(client, form, **history))[:2])
            assert words in reply.words
            assert ("cat this" in reply.words) == (text == "see this")


@pytest.mark.parametrize("form", [RESPONSES, MESSAGES], ids=["Responses", "Messages"])
async def test_a_question_beside(form: Form) -> None:
    """A request without tools (for a title, say) gets a plain text."""
    async with provider() as (_, client):
        reply = form.read(*(await ask(client, form, tools=[]))[:2])
    assert reply.words == TURN.text


async def test_counts_tokens() -> None:
    """A request is counted without being answered, in the forms that can be asked for that."""
    async with provider(Fault(status=500)) as (_, client):
        for path, form in (("/v1/messages/count_tokens", MESSAGES), ("/v1/responses/input_tokens", RESPONSES)):
            short = await (await client.post(path, json=form.ask)).json()
            long = await (await client.post(path, json=form.ask | {form.history: [USER] * 9})).json()
            assert 0 < short["input_tokens"] < long["input_tokens"]


async def test_first_chunk_before_the_last() -> None:
    """Chunks are sent when they are due, not when all are there; compressed ones too."""
    async with provider(Fault(encoding="gzip", delay_each=0.05)) as (_, client):
        response = await client.post(CHAT.path, json=CHAT.ask | {"stream": True})
        started = time.monotonic()
        await response.content.readany()
        first = time.monotonic()
        await response.read()
        assert first - started < (time.monotonic() - started) / 2


async def test_sees_the_client_leave() -> None:
    """A client that leaves in the middle is noticed at once."""
    async with provider(Fault(delay_each=0.02)) as (app, client):
        response = await client.post(CHAT.path, json=CHAT.ask | {"stream": True})
        await response.content.readany()
        response.close()
        await asyncio.wait_for(app.received[0].left.wait(), 1)


async def test_who_stays_is_not_taken_to_have_left() -> None:
    """A client that reads to the end has not left."""
    async with provider() as (app, client):
        await ask(client, CHAT, True)
        await asyncio.sleep(0.05)
        assert not app.received[0].left.is_set()


async def test_records(tmp_path: Path) -> None:
    """Every request is kept with the bytes that came, in memory and as JSON lines."""
    record = tmp_path / "requests.jsonl"
    app = Scripted(Scenario((TURN,)), record)
    body = gzip.compress(json.dumps(CHAT.ask).encode())
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
