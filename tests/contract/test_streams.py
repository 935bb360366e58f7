"""A stream reaches the client as it comes, however it is cut, and its breaks are never taken for its end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gateway.config import Server
from tests.samples import Sample, dump
from tests.service import Wire, configured, service
from tests.wire import (
    CHUNKED,
    EVENTS,
    JSON,
    LAST,
    Call,
    Reply,
    ask,
    chunk,
    connected,
    frame,
    held,
    streamed,
    upstream,
    whole,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

TEXT = "Größe 漢字 😀 done"


def cut(data: bytes, size: int) -> list[bytes]:
    """Pieces of one size."""
    return [data[at : at + size] for at in range(0, len(data), size)]


def inside_characters(data: bytes) -> list[bytes]:
    """Pieces that end after the first byte of each character that has several."""
    out, at = [], 0
    for k, byte in enumerate(data):
        if byte >= 0xC0:
            out.append(data[at : k + 1])
            at = k + 1
    return [*out, data[at:]]


Cut = Callable[[list[bytes]], list[bytes]]
MANNERS: dict[str, Cut] = {
    "an event a piece": lambda events: events,
    "all at once": lambda events: [b"".join(events)],
    "byte by byte": lambda events: cut(b"".join(events), 1),
    "cut inside characters": lambda events: inside_characters(b"".join(events)),
    "lines that end in CRLF": lambda events: cut(b"".join(events).replace(b"\n", b"\r\n"), 7),
    "lines that end in CR": lambda events: cut(b"".join(events).replace(b"\n", b"\r"), 7),
    "comments and pings between": lambda events: [
        b": hi\n\n",
        *(piece for e in events for piece in (e, b": ping\n\n")),
    ],
    "names, ids and times": lambda events: [b"retry: 10\nid: 1\nevent: message\n" + e for e in events],
    "no blank line after the last event": lambda events: [*events[:-1], events[-1].rstrip(b"\n")],
    "no end mark": lambda events: events[:-1],
    "a separator that is no line end": lambda events: [b"".join(events).replace(b"done", "\u2028done".encode())],
    "a byte order mark": lambda events: [b"\xef\xbb\xbf", *events],
}


@pytest.mark.parametrize("manner", MANNERS.values(), ids=MANNERS)
async def test_3_15_02_a_stream_is_relayed_byte_for_byte(manner: Cut, path: str, sample: Sample, line: Wire) -> None:
    """In whatever manner it is sent, and it is read all the same."""
    usage = sample.usage(11, 4)
    pieces = manner(sample.events(TEXT, usage))
    answer = await line.ask(streamed(pieces), path, dump(sample.request(stream=True)))
    row = await line.gateway.row(answer)

    assert (answer.body, answer.clean) == (b"".join(pieces), True)
    assert (row.outcome, row.error, row.reported) == ("completed", None, usage)
    assert row.reply is not None


async def test_3_15_02_nothing_is_held_back(path: str, sample: Sample, line: Wire) -> None:
    """The client has the first event before the upstream has sent the second; so it has half an event."""
    first, *others = sample.events(TEXT)
    line.up.reply, more = held(first + others[0][:9], others[0][9:] + b"".join(others[1:]))
    async with connected(line.gateway.url) as client:
        await client.send("POST", path, [JSON], dump(sample.request(stream=True)))
        _, headers = await client.stream.head()
        pieces = client.stream.pieces(headers)

        assert await anext(pieces) == first + others[0][:9]
        more.set()
        assert b"".join([piece async for piece in pieces]) == others[0][9:] + b"".join(others[1:])


async def test_3_15_02_the_head_is_not_held_back(path: str, sample: Sample, line: Wire) -> None:
    """The client knows the status before there is a first byte."""
    more = asyncio.Event()

    async def reply(call: Call) -> None:
        await call.write(frame(200, [EVENTS, CHUNKED], None))
        await more.wait()
        await call.write(chunk(b"".join(sample.events(TEXT))) + LAST)

    line.up.reply = reply
    async with connected(line.gateway.url) as client:
        await client.send("POST", path, [JSON], dump(sample.request(stream=True)))
        first, _ = await client.stream.head()
        more.set()
    assert first.split(" ")[1] == "200"


async def test_3_15_02_an_error_event_is_relayed(path: str, sample: Sample, line: Wire) -> None:
    """A provider that fails after its status says so in the stream; the exchange is on record as failed."""
    events = [sample.events(TEXT)[0], b'data: {"error": {"message": "overloaded", "code": 1.0}}\n\n']
    answer = await line.ask(streamed(events), path, dump(sample.request(stream=True)))
    row = await line.gateway.row(answer)

    assert (answer.body, answer.clean) == (b"".join(events), True)
    assert (row.outcome, row.error) == ("failed", "overloaded")


async def test_3_15_02_a_reset_is_no_clean_end(path: str, sample: Sample, line: Wire) -> None:
    """The client gets what there is, the shape's error event, and a broken connection; text and usage are kept."""
    usage = sample.usage(11, 4)
    events = [sample.events(TEXT, usage)[0], sample.events(TEXT, usage)[-2]]
    answer = await line.ask(streamed(events, broken=True), path, dump(sample.request(stream=True)))
    row = await line.gateway.row(answer)

    assert (answer.status, answer.clean) == (200, False)
    assert answer.body.startswith(b"".join(events))
    assert "broke off" in sample.error_event(answer.body.removeprefix(b"".join(events)))
    assert (row.outcome, row.reported, row.reply is not None) == ("failed", usage, True)
    assert "broke off" in str(row.error)


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("size", [9, -1], ids=["in a line", "before the blank line"])
async def test_3_15_02_a_reset_inside_an_event_adds_nothing_to_it(
    size: int, end: str, path: str, sample: Sample, line: Wire
) -> None:
    """An error event behind half an event would be read as part of it."""
    first, second, *_ = (event.replace(b"\n", end.encode()) for event in sample.events(TEXT))
    answer = await line.ask(streamed([first, second[:size]], broken=True), path, dump(sample.request(stream=True)))

    assert (answer.body, answer.clean) == (first + second[:size], False)


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(streamed([b"abc"], [EVENTS, ("content-encoding", "gzip")], broken=True), id="a compressed stream"),
        pytest.param(streamed([b'{"choices": ['], [JSON], broken=True), id="a whole answer"),
    ],
)
async def test_3_15_02_a_reset_where_no_event_can_be_sent(reply: Reply, path: str, sample: Sample, line: Wire) -> None:
    """Nothing is added to bytes that are no plain event stream; the break alone tells."""
    answer = await line.ask(reply, path, dump(sample.request(stream=True)))

    assert answer.body in (b"abc", b'{"choices": [')
    assert not answer.clean
    assert (await line.gateway.row(answer)).outcome == "failed"


async def test_3_15_02_a_body_that_is_shorter_than_announced_is_no_clean_end(
    path: str, sample: Sample, line: Wire
) -> None:
    """Not a short answer."""

    async def reply(call: Call) -> None:
        await call.write(frame(200, [JSON, ("content-length", "999")], None) + sample.answer("ok"))
        call.writer.close()

    answer = await line.ask(reply, path, dump(sample.request()))

    assert (answer.body, answer.clean) == (sample.answer("ok"), False)
    assert (await line.gateway.row(answer)).outcome == "failed"


async def test_3_15_02_silence_within_the_limit_is_borne(path: str, sample: Sample, tmp_path: Path) -> None:
    """Reasoning models think for minutes; beyond the limit the stream is broken off, and not cleanly."""
    server = Server(read_seconds=0.6)
    first, *others = sample.events(TEXT)
    body = dump(sample.request(stream=True))

    def pausing(seconds: float) -> Reply:
        async def reply(call: Call) -> None:
            await call.write(frame(200, [EVENTS, CHUNKED], None) + chunk(first))
            await asyncio.wait([asyncio.ensure_future(call.gone.wait())], timeout=seconds)
            await call.write(chunk(b"".join(others)) + LAST)

        return reply

    async with upstream(pausing(0.2)) as up, service(replace(configured(up.url), server=server), tmp_path) as gateway:
        borne = await ask(gateway.url, path, body)
        up.reply = pausing(30)
        broken = await ask(gateway.url, path, body)
        await asyncio.wait_for(up.last.gone.wait(), 1)

    assert (borne.body, borne.clean) == (first + b"".join(others), True)
    assert not broken.clean
    assert "broke off" in sample.error_event(broken.body.removeprefix(first))


@pytest.mark.parametrize("wanted", [True, False, None], ids=["asked for", "declined", "not mentioned"])
@pytest.mark.parametrize("sent", [True, False], ids=["reported", "not reported"])
async def test_3_15_07_usage_is_relayed_as_it_is(
    sent: bool, wanted: bool | None, path: str, sample: Sample, line: Wire
) -> None:
    """We neither ask for it, nor add it, nor hold it back; what was not reported is unknown, and not nought."""
    more: dict[str, Any] = {} if wanted is None else {"stream_options": {"include_usage": wanted}}
    body = dump(sample.request(stream=True, **more))
    usage = sample.usage(11, 4) if sent else None
    events = sample.events(TEXT, usage)
    answer = await line.ask(streamed(events), path, body)
    row = await line.gateway.row(answer)

    assert line.up.last.body == body
    assert answer.body == b"".join(events)
    assert row.reported == usage
    assert row.accounts["reported"]["input"] == (11 if sent else None)  # type: ignore[index]


async def test_3_15_07_details_of_usage_are_kept(path: str, sample: Sample, line: Wire) -> None:
    """Fields that we do not know, and nulls, too."""
    usage = {**sample.usage(11, 4, cached=5), "other_details": {"deep": None}, "cost": 0.25}
    row = await line.gateway.row(await line.ask(whole(sample.answer("ok", usage)), path, dump(sample.request())))

    assert row.reported == usage
    assert row.accounts["reported"]["cached"] == 5  # type: ignore[index]
