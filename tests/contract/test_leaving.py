"""A client that leaves, in whichever phase, stops the upstream within a second, and what there was is on record."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from tests.samples import Sample, dump
from tests.service import ID, Wire
from tests.wire import CHUNKED, EVENTS, JSON, Call, Client, Reply, chunk, connected, frame, whole

pytestmark = pytest.mark.asyncio(loop_scope="module")


def stalled(before: Callable[[Sample], bytes]) -> Callable[[Sample], Reply]:
    """An upstream that says something and then nothing more."""

    def make(sample: Sample) -> Reply:
        async def reply(call: Call) -> None:
            await call.write(before(sample))
            await call.gone.wait()

        return reply

    return make


def half_a_stream(sample: Sample) -> bytes:
    """Head, one event with text, one with usage."""
    events = sample.events("Hello world", sample.usage(9, 2))
    return frame(200, [EVENTS, CHUNKED], None) + b"".join(chunk(events[k]) for k in (0, -2))


def half_an_answer(sample: Sample) -> bytes:
    """Less of a body than its head announces."""
    return frame(200, [JSON, ("content-length", "5000")], None) + sample.answer("ok")[:40]


async def until_head(client: Client) -> None:
    """The client has seen the head."""
    await client.stream.head()


async def until_half(client: Client) -> None:
    """The client has seen some of the body."""
    _, headers = await client.stream.head()
    got, chunked = b"", CHUNKED in headers
    async for piece in client.stream.pieces(headers):
        got += piece
        if not chunked or b"usage" in got:
            return


async def at_once(client: Client) -> None:
    """The client has seen nothing."""


PHASES = {
    "before the head": (stalled(lambda _: b""), at_once, True, None),
    "before the first byte": (stalled(lambda _: frame(200, [EVENTS, CHUNKED], None)), until_head, True, 200),
    "inside a stream": (stalled(half_a_stream), until_half, True, 200),
    "before a whole answer": (stalled(lambda _: b""), at_once, False, None),
    "inside a whole answer": (stalled(half_an_answer), until_half, False, 200),
}


@pytest.mark.parametrize("phase", PHASES.values(), ids=PHASES)
async def test_3_15_06_the_upstream_is_closed_and_the_exchange_is_abandoned(
    phase: tuple[Callable[[Sample], Reply], Callable[[Client], object], bool, int | None],
    path: str,
    sample: Sample,
    line: Wire,
    request: pytest.FixtureRequest,
) -> None:
    """Within a second, before the head, before the first byte, and in the middle."""
    make, until, stream, status = phase
    line.up.reply = make(sample)
    number, name = len(line.up.calls), f"leaves-{len(line.up.calls)}"
    async with connected(line.gateway.url) as client:
        await client.send("POST", path, [JSON, (ID, name)], dump(sample.request(stream=stream)))
        call = await line.up.call(number)
        await until(client)  # type: ignore[misc]
        client.leave()
        await asyncio.wait_for(call.gone.wait(), 1)
    row = await line.gateway.row(name)

    assert (row.outcome, row.status, row.error) == ("abandoned", status, "the client left")
    assert row.stream is stream
    assert row.reported == (sample.usage(9, 2) if until is until_half and stream else None)
    assert (row.reply is not None) == (until is until_half and stream)


async def test_3_15_06_a_client_that_leaves_in_its_own_request_is_on_record(path: str, line: Wire) -> None:
    """No upstream hears of it."""
    number = len(line.up.calls)
    async with connected(line.gateway.url) as client:
        await client.send("POST", path, [JSON, ("content-length", "100"), (ID, "half-sent")])
        await client.write(b'{"model": ')
        client.leave()
    row = await line.gateway.row("half-sent")

    assert (row.outcome, row.status, row.model) == ("abandoned", None, None)
    assert len(line.up.calls) == number


async def test_3_15_06_a_client_that_leaves_in_an_upload_stops_it(line: Wire) -> None:
    """The upstream does not wait for a rest that never comes."""
    number = len(line.up.calls)
    async with connected(line.gateway.url) as client:
        await client.send("POST", "/v1/files", [("content-type", "a/b"), CHUNKED, (ID, "half-uploaded")])
        await client.write(chunk(b"one"))
        call = await line.up.call(number)
        await call.until(b"one")
        client.leave()
        await asyncio.wait_for(call.gone.wait(), 1)

    assert (await line.gateway.row("half-uploaded")).outcome == "abandoned"


async def test_3_15_06_a_client_that_leaves_a_relayed_answer_stops_it(line: Wire) -> None:
    """Paths without a shape are no exception."""
    line.up.reply = stalled(lambda _: frame(200, [EVENTS, CHUNKED], None) + chunk(b"data: 1\n\n"))(None)  # type: ignore[arg-type]
    number = len(line.up.calls)
    async with connected(line.gateway.url) as client:
        await client.send("GET", "/v1/threads/runs", [(ID, "left-relay")])
        call = await line.up.call(number)
        await until_half_of(client)
        client.leave()
        await asyncio.wait_for(call.gone.wait(), 1)

    assert (await line.gateway.row("left-relay")).outcome == "abandoned"


async def until_half_of(client: Client) -> None:
    """The client has seen one piece."""
    _, headers = await client.stream.head()
    await anext(client.stream.pieces(headers))


async def test_3_15_06_many_that_leave_do_not_starve_the_others(path: str, sample: Sample, line: Wire) -> None:
    """No connection is leaked."""
    line.up.reply = stalled(lambda _: b"")(sample)
    number = len(line.up.calls)
    body = dump(sample.request())

    async def leave(k: int) -> None:
        async with connected(line.gateway.url) as client:
            await client.send("POST", path, [JSON], body)
            call = await line.up.call(number + k)
            client.leave()
            await asyncio.wait_for(call.gone.wait(), 5)

    await asyncio.gather(*(leave(k) for k in range(30)))
    answer = await line.ask(whole(sample.answer("ok")), path, body)
    assert answer.status == 200


async def test_who_stays_to_the_end_has_not_left(path: str, sample: Sample, line: Wire) -> None:
    """Also on a connection that closes right after the answer, and on one that goes on."""
    line.up.reply = whole(sample.answer("ok", sample.usage(9, 2)))
    async with connected(line.gateway.url) as client:
        for name in ("first", "second"):
            await client.send("POST", path, [JSON, (ID, name)], dump(sample.request()))
            assert (await client.answer()).clean
        client.leave()

    assert [(await line.gateway.row(name)).outcome for name in ("first", "second")] == ["completed", "completed"]
