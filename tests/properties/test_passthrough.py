"""The first law of the wire: what is forwarded differs from what came only in the text of observations."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import AsyncExitStack
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.cache import BoundedCache
from gateway.errors import BadRequest, NothingToRead
from gateway.shapes import SHAPES
from gateway.types import Conversation
from tests.properties.bodies import BODIES, MAY_DIFFER, Path, written
from tests.service import Wire, configured, service
from tests.wire import Answer, upstream, whole

every = settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
shapes = pytest.mark.parametrize("path", BODIES, ids=lambda path: str(path).removeprefix("/v1/"))


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[asyncio.Runner, Wire]]:
    """An upstream behind a gateway, for all examples."""

    async def start(stack: AsyncExitStack) -> Wire:
        up = await stack.enter_async_context(upstream(whole(b"{}")))
        return Wire(up, await stack.enter_async_context(service(configured(up.url), tmp_path_factory.mktemp("data"))))

    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        wire = runner.run(start(stack))
        yield runner, wire
        runner.run(stack.aclose())


def forward(line: tuple[asyncio.Runner, Wire], path: str, body: bytes) -> tuple[Answer, bytes | None]:
    """The answer, and the body that reached the upstream, if one did."""
    runner, wire = line
    wire.up.calls.clear()
    answer = runner.run(wire.ask(whole(b"{}"), path, body))
    return answer, wire.up.last.body if wire.up.calls else None


def read(path: str, body: bytes) -> Conversation:
    """A body as its shape reads it."""
    return SHAPES[path].read(body, BoundedCache(1 << 20))


def strings_of_results(path: str, body: bytes) -> list[tuple[int, int]]:
    """Spans of the texts that may be rewritten, in the order in which they stand."""
    placed = read(path, body).messages
    return sorted((one.start + t.start, one.start + t.end) for one in placed for t in one.message.texts)


def differences(old: Any, new: Any, at: Path = ()) -> Iterator[tuple[Path, Any, Any]]:
    """Where two values differ, and how."""
    if isinstance(old, dict) and isinstance(new, dict) and list(old) == list(new):
        for key in old:
            yield from differences(old[key], new[key], (*at, key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for k, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from differences(one, other, (*at, k))
    elif repr(old) != repr(new):
        yield at, old, new


@shapes
@every
@given(data=st.data())
def test_only_the_text_of_results_differs(line: tuple[asyncio.Runner, Wire], path: str, data: st.DataObject) -> None:
    """Outside of the JSON strings of results every byte is the same, and each of them stays a string."""
    body = data.draw(written(BODIES[path]))
    answer, forwarded = forward(line, path, body)
    assert answer.status == 200
    assert forwarded is not None
    at = old = 0
    for start, end in strings_of_results(path, body):
        between = body[old:start]
        assert forwarded[at : at + len(between)] == between
        text = forwarded[at + len(between) :].decode("utf-8", "surrogatepass")
        _, size = json.JSONDecoder(strict=False).raw_decode(text)
        at += len(between) + len(text[:size].encode("utf-8", "surrogatepass"))
        old = end
    assert forwarded[at:] == body[old:]


@shapes
@every
@given(data=st.data())
def test_what_differs_is_a_result_to_anybody_who_reads(
    line: tuple[asyncio.Runner, Wire], path: str, data: st.DataObject
) -> None:
    """Told without our reader, by where the form has its results."""
    body = data.draw(written(BODIES[path]))
    _, forwarded = forward(line, path, body)
    assert forwarded is not None
    given_, got = json.loads(body), json.loads(forwarded)
    for at, old, new in differences(given_, got):
        assert (type(old), type(new)) == (str, str)
        assert MAY_DIFFER[path](given_, at), at


@shapes
@every
@given(data=st.data())
def test_a_retry_is_the_same_bytes(line: tuple[asyncio.Runner, Wire], path: str, data: st.DataObject) -> None:
    """Whatever was decided is decided."""
    body = data.draw(written(BODIES[path]))
    assert forward(line, path, body)[1] == forward(line, path, body)[1]


@shapes
@every
@given(data=st.data())
def test_nothing_gets_longer(line: tuple[asyncio.Runner, Wire], path: str, data: st.DataObject) -> None:
    """No text of a result, and so no request."""
    body = data.draw(written(BODIES[path]))
    _, forwarded = forward(line, path, body)
    assert forwarded is not None
    for old, new in zip(read(path, body).messages, read(path, forwarded).messages, strict=True):
        for one, other in zip(old.message.texts, new.message.texts, strict=True):
            assert len(other.value) <= len(one.value)


@shapes
@settings(every, max_examples=150)
@given(
    body=st.binary(max_size=60) | st.text(alphabet='{}[]",:\\ \t1etrufalsn0"', max_size=60).map(str.encode),
    data=st.data(),
)
def test_no_bytes_end_the_process(
    line: tuple[asyncio.Runner, Wire], path: str, body: bytes, data: st.DataObject
) -> None:
    """Rubbish, and requests with rubbish in them, get an answer that is meant."""
    if data.draw(st.booleans()):
        good = data.draw(written(BODIES[path]))
        at = data.draw(st.integers(0, len(good)))
        body = good[:at] + body + good[data.draw(st.integers(at, len(good))) :]
    answer, forwarded = forward(line, path, body)

    assert answer.status in (200, 400)
    try:
        read(path, body)
    except BadRequest:
        assert (answer.status, forwarded) == (400, None)
    except NothingToRead:
        assert (answer.status, forwarded) == (200, body)


def test_every_shape_has_bodies() -> None:
    """A shape without would go untested."""
    assert BODIES.keys() == MAY_DIFFER.keys() == SHAPES.keys()
