"""WebSockets: what goes through is what came, new tool output is rewritten, and each response is on record."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import Request, Response, ServerConnection, serve
from websockets.exceptions import ConnectionClosed, InvalidStatus

from gateway.config import Client, Rewriting, Upstream
from memory import Archive
from tests.samples import LISTING, PROGRESS, TASK
from tests.service import Service, configured, service
from tests.wire import PATIENCE

SHELL = {"type": "function", "name": "bash", "parameters": {"type": "object"}}
TICK = 0.1
"""Seconds after which the server looks whether it was told to stop."""
FIRST = [{"role": "user", "content": TASK}]


def creating(items: list[Any], **more: Any) -> str:
    """A request for a response."""
    return json.dumps({"type": "response.create", "model": "m-1", "input": items, "tools": [SHELL], **more})


def result(number: int, output: str) -> dict[str, Any]:
    """What the command of an answer printed."""
    return {"type": "function_call_output", "call_id": f"call_{number}", "output": output}


def events(number: int, command: str = "make", **more: Any) -> list[str]:
    """The answer with this number: it asks for a command."""
    arguments = json.dumps({"command": command})
    item = {"type": "function_call", "call_id": f"call_{number}", "name": "bash", "arguments": arguments}
    response = {"id": f"resp_{number}", "object": "response", "status": "completed", "output": [item]}
    whole = {**response, "usage": {"input_tokens": 900, "output_tokens": 9}}
    told: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**response, "output": []}},
        {"type": "response.output_item.done", "item": item},
        {"type": "response.completed", "response": whole},
    ]
    return [json.dumps({**event, "sequence_number": k, **more}) for k, event in enumerate(told)]


Play = Callable[["Provider", ServerConnection, str], Awaitable[None]]


@dataclass
class Provider:
    """An upstream with a WebSocket: what came, and what it does with each message."""

    play: Play
    refusal: int | None = None
    url: str = ""
    elsewhere: str = ""
    """Where a refusal leads to."""
    requests: list[Request] = field(default_factory=list)
    received: list[str | bytes] = field(default_factory=list)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    """A connection has come to its end."""

    def admit(self, connection: ServerConnection, request: Request) -> Response | None:
        """Take the handshake, or refuse it."""
        self.requests.append(request)
        if self.refusal is None:
            return None
        response = connection.respond(HTTPStatus(self.refusal), "no")
        response.headers["Retry-After"] = "7"
        if self.elsewhere:
            response.headers["Location"] = self.elsewhere
        return response

    async def talk(self, connection: ServerConnection) -> None:
        """One connection to its end."""
        try:
            async for message in connection:
                self.received.append(message)
                await self.play(self, connection, str(message))
        except ConnectionClosed:
            pass
        finally:
            await connection.wait_closed()
            self.ended.set()


@asynccontextmanager
async def provider(play: Play, refusal: int | None = None) -> AsyncIterator[Provider]:
    """A provider on a port of its own."""
    told = Provider(play, refusal)
    async with serve(told.talk, "127.0.0.1", 0, process_request=told.admit, subprotocols=None) as server:
        told.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield told


async def answers(told: Provider, connection: ServerConnection, message: str) -> None:
    """Answer each message with the next answer."""
    number = len(told.received) - 1
    for event in events(number, "make" if number < 2 else "ls -l"):
        await connection.send(event)


def address(gateway: Service) -> str:
    """Where a gateway takes WebSockets."""
    return gateway.url.replace("http", "ws") + "/v1/responses"


@asynccontextmanager
async def client(gateway: Service, **headers: str) -> AsyncIterator[ClientConnection]:
    """A client at a gateway."""
    named = {"authorization": "Bearer k", "openai-beta": "responses_websockets=2026-02-06", **headers}
    async with connect(address(gateway), additional_headers=named, max_size=None) as connection:
        yield connection


async def hear(connection: ClientConnection, end: str = "response.completed") -> list[str]:
    """Events up to the one that ends an answer."""
    out: list[str] = []
    async with asyncio.timeout(PATIENCE):
        while not out or json.loads(out[-1])["type"] != end:
            out.append(str(await connection.recv()))
    return out


@pytest.fixture
async def told() -> AsyncIterator[Provider]:
    """A provider that answers everything."""
    async with provider(answers) as one:
        yield one


async def test_messages_and_events_go_through_as_they_come(tmp_path: Path, told: Provider) -> None:
    """Text and binary, known and unknown, in both directions, with the headers of both sides."""

    async def odd(told: Provider, connection: ServerConnection, message: str) -> None:
        await connection.send(b"\x00\xff" if len(told.received) == 1 else '{"type" : "new.kind", "x": 1.0}')

    told.play = odd
    async with service(configured(told.url), tmp_path) as gateway, client(gateway, **{"x-own": "1"}) as connection:
        for message in (b"\x01\x02", '{"type":"response.steer","input":"\\ud800"}', "no JSON", "7"):
            await connection.send(message)
        heard = [await connection.recv() for _ in range(4)]

    assert told.received == [b"\x01\x02", '{"type":"response.steer","input":"\\ud800"}', "no JSON", "7"]
    assert heard == [b"\x00\xff", *['{"type" : "new.kind", "x": 1.0}'] * 3]
    sent = told.requests[0].headers
    assert (sent["authorization"], sent["openai-beta"], sent["x-own"]) == (
        "Bearer k",
        "responses_websockets=2026-02-06",
        "1",
    )
    assert told.requests[0].path == "/v1/responses"


async def test_nothing_to_rewrite_is_the_same_text(tmp_path: Path, told: Provider) -> None:
    """Whatever its spelling."""
    odd = '{ "type":"response.create","model" : "m", "input":[{"role":"user","content":"\\u00e9 1"}],"n":1.0,"n":2 }'
    async with service(configured(told.url), tmp_path) as gateway, client(gateway) as connection:
        await connection.send(odd)
        heard = await hear(connection)

    assert told.received == [odd]
    assert heard == events(0)


async def test_new_output_is_rewritten_and_everything_is_on_record(tmp_path: Path, told: Provider) -> None:
    """A warm-up, then each turn with its new output only: one session, with the commands, the savings and the usage."""
    async with service(configured(told.url), tmp_path) as gateway:
        async with client(gateway, **{"x-taco-request-id": "c"}) as connection:
            await connection.send(creating([{"role": "developer", "content": "Be brief."}], generate=False))
            await hear(connection)
            await connection.send(creating(FIRST, previous_response_id="resp_0"))
            await hear(connection)
            await connection.send(creating([result(1, PROGRESS)], previous_response_id="resp_1"))
            await hear(connection)
            await connection.send(creating([result(2, LISTING)], previous_response_id="resp_2"))
            await hear(connection)
        rows = [await gateway.row(f"c-{k}") for k in range(1, 5)]
        audit = await gateway.gateway.archive.rewrite(rows[2].rewrites[0])

    forwarded = json.loads(told.received[2])["input"][0]["output"]
    assert len(forwarded) < len(PROGRESS)
    assert json.loads(told.received[3])["input"][0]["output"] == LISTING
    assert len({row.session for row in rows}) == 1
    assert [row.outcome for row in rows] == ["completed"] * 4
    assert rows[2].reported == {"input_tokens": 900, "output_tokens": 9}
    assert rows[3].accounts["repeat_saved"] == rows[2].accounts["novel_saved"] != 0
    assert audit is not None
    assert audit.texts is not None
    assert "make" in audit.texts.command


async def test_streams_in_one_connection(tmp_path: Path, told: Provider) -> None:
    """Their events are interleaved; each answer belongs to its own request."""

    async def both(told: Provider, connection: ServerConnection, message: str) -> None:
        if len(told.received) == 2:
            one, other = events(0, "make", stream_id="a"), events(1, "ls", stream_id="b")
            for pair in zip(other, one, strict=True):
                for event in pair:
                    await connection.send(event)
        elif len(told.received) == 3:
            for event in events(2, stream_id="a"):
                await connection.send(event)

    told.play = both
    async with service(configured(told.url), tmp_path) as gateway:
        async with client(gateway, **{"x-taco-request-id": "c"}) as connection:
            await connection.send(creating(FIRST, stream_id="a"))
            await connection.send(creating([{"role": "user", "content": "Other. " * 400}], stream_id="b"))
            await hear(connection)
            await hear(connection)
            await connection.send(creating([result(0, PROGRESS)], stream_id="a", previous_response_id="resp_0"))
            await hear(connection)
        rows = [await gateway.row(f"c-{k}") for k in range(1, 4)]
        audit = await gateway.gateway.archive.rewrite(rows[2].rewrites[0])

    assert rows[0].session == rows[2].session != rows[1].session
    assert audit is not None
    assert audit.texts is not None
    assert "make" in audit.texts.command


@pytest.mark.parametrize(
    ("refused", "status"),
    [(401, 401), (429, 429), (500, 500), (404, 426), (405, 426), (426, 426), (200, 426)],
)
async def test_a_refused_handshake(tmp_path: Path, refused: int, status: int) -> None:
    """Is refused with its own status; where there is no WebSocket at all, with the one that makes clients fall back."""
    async with (
        provider(answers, refused) as told,
        service(configured(told.url), tmp_path) as gateway,
    ):
        with pytest.raises(InvalidStatus) as raised:
            async with client(gateway):
                pass

    response = raised.value.response
    assert response.status_code == status
    assert ("retry-after" in response.headers) == (status == refused != 426)
    assert json.loads(response.body)["error"]["message"]


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_handshake_that_is_sent_elsewhere_is_refused(tmp_path: Path, told: Provider, status: int) -> None:
    """The key in it is for nobody else."""
    async with provider(answers, status) as first, service(configured(first.url), tmp_path) as gateway:
        first.elsewhere = told.url
        with pytest.raises(InvalidStatus) as raised:
            async with client(gateway):
                pass

    assert raised.value.response.status_code == status
    assert (len(first.requests), told.requests) == (1, [])


async def test_nobody_is_there(tmp_path: Path) -> None:
    """The handshake says so."""
    async with service(configured("http://127.0.0.1:9"), tmp_path) as gateway:
        with pytest.raises(InvalidStatus) as raised:
            async with client(gateway):
                pass

    assert raised.value.response.status_code == 502


async def test_a_client_that_is_not_let_in(tmp_path: Path, told: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    """No connection to the provider is made."""
    monkeypatch.setenv("ALICE_KEY", "alice")
    config = configured(told.url, clients=(Client(name="alice", key_env="ALICE_KEY"),))
    async with service(config, tmp_path) as gateway:
        with pytest.raises(InvalidStatus) as raised:
            async with client(gateway):
                pass

    assert raised.value.response.status_code == 401
    assert told.requests == []


@pytest.mark.parametrize("code", [1000, 1001, 1012, 4001])
async def test_the_provider_closes(tmp_path: Path, told: Provider, code: int) -> None:
    """With its own code and reason, and an answer that was under way is on record as broken off."""

    async def leave(told: Provider, connection: ServerConnection, message: str) -> None:
        await connection.send(events(0)[0])
        await connection.close(code, "enough")

    told.play = leave
    async with service(configured(told.url), tmp_path) as gateway:
        async with client(gateway, **{"x-taco-request-id": "c"}) as connection:
            await connection.send(creating(FIRST))
            with pytest.raises(ConnectionClosed) as raised:
                await hear(connection)
        row = await gateway.row("c-1")

    assert raised.value.rcvd is not None
    assert (raised.value.rcvd.code, raised.value.rcvd.reason) == (code, "enough")
    assert (row.outcome, row.status) == ("failed", 200)


async def test_the_provider_breaks_off(tmp_path: Path, told: Provider) -> None:
    """It never looks like an end."""

    async def break_off(told: Provider, connection: ServerConnection, message: str) -> None:
        await connection.send(events(0)[0])
        connection.transport.abort()

    told.play = break_off
    async with service(configured(told.url), tmp_path) as gateway:
        async with client(gateway, **{"x-taco-request-id": "c"}) as connection:
            await connection.send(creating(FIRST))
            with pytest.raises(ConnectionClosed) as raised:
                await hear(connection)
        row = await gateway.row("c-1")

    assert raised.value.rcvd is not None
    assert raised.value.rcvd.code == 1011
    assert row.outcome == "failed"


async def test_the_client_leaves(tmp_path: Path, told: Provider) -> None:
    """The provider is told within a second, and what came is on record."""

    async def begin(told: Provider, connection: ServerConnection, message: str) -> None:
        await connection.send(events(0)[0])

    told.play = begin
    async with service(configured(told.url), tmp_path) as gateway:
        async with client(gateway, **{"x-taco-request-id": "c"}) as connection:
            await connection.send(creating(FIRST))
            await connection.recv()
        row = await gateway.row("c-1")
        async with asyncio.timeout(1):
            await told.ended.wait()

    assert row.outcome == "abandoned"


@pytest.mark.parametrize("busy", [True, False], ids=["an answer is under way", "nobody waits for an answer"])
async def test_the_gateway_stops(tmp_path: Path, told: Provider, busy: bool) -> None:
    """What is under way is finished and on record; then the client hears that it may come again."""
    go_on = asyncio.Event()

    async def slowly(told: Provider, connection: ServerConnection, message: str) -> None:
        first, *rest = events(0)
        await connection.send(first)
        await go_on.wait()
        for event in rest:
            await connection.send(event)

    told.play = slowly
    async with AsyncExitStack() as running:
        gateway = await running.enter_async_context(service(configured(told.url), tmp_path))
        connection = await connect(address(gateway), additional_headers={"x-taco-request-id": "c"})
        if busy:
            await connection.send(creating(FIRST))
            await connection.recv()
        stopping = asyncio.ensure_future(running.pop_all().aclose())
        await asyncio.sleep(3 * TICK)
        go_on.set()
        heard = await hear(connection) if busy else []
        with pytest.raises(ConnectionClosed) as raised:
            await connection.recv()
        await stopping
    archive = await Archive.open(tmp_path)
    row = await archive.exchange("c-1")
    await archive.aclose()

    assert heard == events(0)[1:] * busy
    assert raised.value.rcvd is not None
    assert raised.value.rcvd.code == 1012
    assert (row.outcome if row else None) == ("completed" if busy else None)


async def test_an_error_is_the_answer_to_its_request(tmp_path: Path, told: Provider) -> None:
    """The connection goes on."""

    async def fail_first(told: Provider, connection: ServerConnection, message: str) -> None:
        if len(told.received) == 1:
            await connection.send(json.dumps({"type": "error", "status": 400, "error": {"message": "no such answer"}}))
        else:
            await answers(told, connection, message)

    told.play = fail_first
    async with service(configured(told.url), tmp_path) as gateway:
        async with client(gateway, **{"x-taco-request-id": "c"}) as connection:
            await connection.send(creating(FIRST, previous_response_id="resp_9"))
            await hear(connection, "error")
            await connection.send(creating(FIRST))
            await hear(connection)
        rows = [await gateway.row("c-1"), await gateway.row("c-2")]

    assert [row.outcome for row in rows] == ["failed", "completed"]
    assert rows[0].error == "no such answer"


@pytest.mark.parametrize(
    ("message", "word"),
    [
        (json.dumps({"type": "response.create", "model": "m", "input": 7}), "input"),
        (json.dumps({"type": "response.create", "model": "elsewhere", "input": FIRST, "stream_id": "a"}), "over HTTP"),
    ],
    ids=["a bad request", "a model of another upstream"],
)
async def test_a_request_that_cannot_be_served(tmp_path: Path, told: Provider, message: str, word: str) -> None:
    """Its stream gets the error that says what to do; the provider gets nothing; the connection goes on."""
    other = Upstream(name="other", url=f"{told.url}/v1", models=("elsewhere",))
    config = configured(told.url, upstreams=(Upstream(name="up", url=f"{told.url}/v1", models=("m*",)), other))
    async with service(config, tmp_path) as gateway, client(gateway) as connection:
        await connection.send(message)
        error = json.loads((await hear(connection, "error"))[-1])
        await connection.send(creating(FIRST))
        await hear(connection)

    assert word in error["error"]["message"]
    assert error.get("stream_id") == json.loads(message).get("stream_id")
    assert len(told.received) == 1


async def test_rewriting_is_off(tmp_path: Path, told: Provider) -> None:
    """In general, or for a connection by its header."""
    message = creating([*FIRST, result(0, PROGRESS)])
    off = configured(told.url, rewriting=Rewriting(enabled=False))
    async with service(off, tmp_path / "one") as gateway, client(gateway) as connection:
        await connection.send(message)
        await hear(connection)
    async with (
        service(configured(told.url), tmp_path / "two") as gateway,
        client(gateway, **{"x-taco-rewrite": "off"}) as connection,
    ):
        await connection.send(message)
        await hear(connection)

    assert told.received == [message, message]
