"""A connection: streams beside each other, faults in the middle, and what is left of one whose client is gone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from gateway.providers.scripted import Scripted
from gateway.scenario import Fault, Scenario, Turn
from gateway.serving import serving
from tests.wire import PATIENCE

ASK = {"type": "response.create", "model": "m", "input": "go"}


def told(**fault: Any) -> Scripted:
    """A provider of one turn, with a fault."""
    return Scripted(Scenario((Turn(text="Done. " * 20, fault=Fault(**fault)), Turn(text="Next."))))


@asynccontextmanager
async def client(app: Scripted, path: str = "/v1/responses") -> AsyncIterator[ClientConnection]:
    """A client at a provider."""
    async with (
        serving(app) as url,
        connect(url.replace("http", "ws") + path, additional_headers={"x-own": "1"}) as connection,
    ):
        yield connection


async def hear(connection: ClientConnection, count: int = 1) -> list[dict[str, Any]]:
    """Events, until so many answers have ended."""
    out: list[dict[str, Any]] = []
    async with asyncio.timeout(PATIENCE):
        while sum(event["type"] in ("response.completed", "error") for event in out) < count:
            out.append(json.loads(await connection.recv()))
    return out


@pytest.mark.parametrize(
    ("app", "path"),
    [
        pytest.param(Scripted(Scenario(), websocket=False), "/v1/responses", id="not offered"),
        pytest.param(Scripted(Scenario()), "/v1/realtime", id="offered somewhere else"),
    ],
)
async def test_refused(app: Scripted, path: str) -> None:
    """With the status that makes clients fall back to HTTP; the handshake is on record."""
    with pytest.raises(InvalidStatus) as raised:
        async with client(app, path):
            pass
    assert raised.value.response.status_code == 426
    assert "over HTTP" in json.loads(raised.value.response.body)["error"]["message"]
    assert [(one.method, one.path) for one in app.received] == [("GET", path)]


@pytest.mark.parametrize(
    ("message", "words"),
    [
        pytest.param("no JSON", "response.create", id="no JSON"),
        pytest.param("7", "response.create", id="no object"),
        pytest.param('{"type": "response.stop"}', "response.stop", id="a message of another type"),
        pytest.param(json.dumps(ASK | {"input": 7}), "cannot be read", id="no items"),
        pytest.param(json.dumps(ASK | {"previous_response_id": "resp_9"}), "resp_9", id="a response that is not there"),
    ],
)
async def test_a_message_that_cannot_be_answered(message: str, words: str) -> None:
    """It gets an error, and the connection goes on."""
    async with client(told()) as connection:
        await connection.send(message)
        (error,) = await hear(connection)
        await connection.send(json.dumps(ASK))
        assert (await hear(connection))[-1]["type"] == "response.completed"
    assert (error["type"], error["status"]) == ("error", 400)
    assert words in error["error"]["message"]


async def test_what_is_received() -> None:
    """Each message is kept as it came, with the headers of the handshake."""
    app = told()
    odd = json.dumps(ASK, indent=1)
    async with client(app) as connection:
        for message in (odd, odd.encode()):
            await connection.send(message)
            await hear(connection)
    assert [(one.method, one.path, one.body) for one in app.received] == [
        ("WEBSOCKET", "/v1/responses", odd.encode())
    ] * 2
    assert ("x-own", "1") in app.received[0].headers
    assert not app.received[0].left.is_set()


async def test_streams_beside_each_other() -> None:
    """Each event names its stream; two streams take turns, one stream answers in order."""
    async with client(told()) as connection:
        for stream in ("a", "b", "a"):
            await connection.send(json.dumps(ASK | {"stream_id": stream}))
        events = await hear(connection, 3)
    streams = [event["stream_id"] for event in events]
    assert "".join(streams[:6]) != "aaaaaa"
    numbers = [event["sequence_number"] for event in events if event["stream_id"] == "a"]
    assert numbers == [*range(len(numbers) // 2)] * 2


async def test_a_status() -> None:
    """A failing turn is an error on its stream; the retry gets the turn."""
    async with client(told(status=429, retry_after=2)) as connection:
        await connection.send(json.dumps(ASK | {"stream_id": "a"}))
        (error,) = await hear(connection)
        await connection.send(json.dumps(ASK))
        again = await hear(connection)
    assert (error["status"], error["error"]["code"], error["stream_id"]) == (429, "rate_limit_exceeded", "a")
    assert error["headers"] == {"retry-after": "2"}
    assert again[-1]["response"]["output"][0]["content"][0]["text"] == "Done. " * 20


async def test_steers_a_response_that_is_not_there() -> None:
    """What was said comes back, and the connection goes on."""
    async with client(told()) as connection:
        await connection.send(json.dumps({"type": "response.steer", "previous_response_id": "resp_9", "input": "stop"}))
        failed = json.loads(await connection.recv())
        await connection.send(json.dumps(ASK))
        await hear(connection)
    assert (failed["type"], failed["error"]["code"]) == ("response.steer.failed", "response_not_found")
    assert failed["steer"] == {"previous_response_id": "resp_9", "input": "stop"}


@pytest.mark.parametrize("store", [True, False], ids=["stored", "not stored"])
async def test_steers_in_the_middle_of_an_answer(store: bool) -> None:
    """It is accepted at once, on the stream of the answer, and read by who goes on from that."""
    slow = Turn(text="Done. " * 20, fault=Fault(delay_each=0.02))
    app = Scripted(Scenario((slow, Turn(find="rather (.+)", text="Now {found}."))))
    async with client(app) as connection:
        await connection.send(json.dumps(ASK | {"stream_id": "a", "store": store}))
        name = json.loads(await connection.recv())["response"]["id"]
        said = {"previous_response_id": name, "input": "rather sing"}
        await connection.send(json.dumps({"type": "response.steer", **said}))
        events = await hear(connection)
        await connection.send(json.dumps(ASK | {"previous_response_id": name, "input": [], "stream_id": "a"}))
        after = await hear(connection)
    (accepted,) = (event for event in events if "steer" in event)
    assert (accepted["type"], accepted["stream_id"]) == ("response.steer.accepted", "a")
    assert accepted["steer"]["previous_response_id"] == name
    assert events[-1]["type"] == "response.completed"
    assert after[-1]["response"]["output"][0]["content"][0]["text"] == "Now sing."


async def test_an_error_in_the_middle() -> None:
    """It comes in the place of the end, and nobody goes on from the answer."""
    async with client(told(error_event="overloaded")) as connection:
        await connection.send(json.dumps(ASK))
        events = await hear(connection)
        name = events[0]["response"]["id"]
        await connection.send(json.dumps(ASK | {"previous_response_id": name}))
        (refused,) = await hear(connection)
    assert (len(events) > 9, events[-1]["error"]["message"]) == (True, "overloaded")
    assert "not found" in refused["error"]["message"]


async def test_a_break() -> None:
    """The connection ends in the middle, and not as if all was well; its other streams end with it."""
    events, code = list[dict[str, Any]](), None
    async with client(told(break_after=3)) as connection:
        await connection.send(json.dumps(ASK | {"stream_id": "a"}))
        await connection.send(json.dumps(ASK | {"stream_id": "b"}))
        async with asyncio.timeout(PATIENCE):
            try:
                async for message in connection:
                    events.append(json.loads(message))
            except ConnectionClosed as closed:
                code = closed.rcvd and closed.rcvd.code
    assert code == 1011
    assert [event["sequence_number"] for event in events if event["stream_id"] == "a"] == [0, 1, 2]
    assert "response.completed" not in {event["type"] for event in events}


async def test_the_client_leaves() -> None:
    """It is noticed in the middle of an answer."""
    app = told(delay_each=0.05)
    async with client(app) as connection:
        await connection.send(json.dumps(ASK))
        await connection.recv()
        await connection.close()
        await asyncio.wait_for(app.received[0].left.wait(), 1)
