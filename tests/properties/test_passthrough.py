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
from gateway.errors import BadRequest
from gateway.shapes import chat_completions
from tests.samples import LISTING, PROGRESS
from tests.service import Wire, configured, service
from tests.wire import Answer, upstream, whole

PATH = "/v1/chat/completions"
every = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

texts = st.text(max_size=40) | st.sampled_from(
    ["", "\x00", "\u2028", "\ud800", "é", '"\\', "recall:abc123", "</output>"]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
extras = st.dictionaries(texts.map(lambda name: "x" + name), values, max_size=3)
noise = st.sampled_from(
    [PROGRESS, LISTING, "line of a log\n" * 60, "\x1b[1mbold\x1b[0m\n" * 40, "3 failed\n" + PROGRESS]
)
outputs = (
    noise
    | st.text(max_size=300)
    | st.lists(
        st.sampled_from([PROGRESS[:900], LISTING[:900], "ok\n" * 90, "  1\tx = 1\n" * 40, "\r"]), max_size=4
    ).map("".join)
)
contents = outputs | st.none() | st.lists(
    st.builds(lambda text, more: {"type": "text", "text": text} | more, outputs, extras) | values, max_size=3
)  # fmt: skip
arguments = st.builds(lambda command: json.dumps({"command": command}), texts) | texts


@st.composite
def requests(draw: st.DrawFn) -> dict[str, Any]:
    """A conversation with calls and results, of all sorts, beside fields of all sorts."""
    messages: list[Any] = [
        {"role": "system", "content": "x" * 2500} | draw(extras),
        {"role": "user", "content": draw(contents)},
    ]
    for k in range(draw(st.integers(0, 3))):
        function = {"name": draw(st.sampled_from(["bash", "read", ""])), "arguments": draw(arguments)} | draw(extras)
        call = {"id": f"c{k}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": draw(contents), "tool_calls": [call]} | draw(extras))
        role = draw(st.sampled_from(["tool", "tool", "user", "function"]))
        messages.append({"role": role, "tool_call_id": f"c{k}", "content": draw(noise | contents)} | draw(extras))
    return {
        "model": "m",
        "messages": messages,
        "tools": draw(st.just([{"function": {"name": "bash"}}]) | values),
    } | draw(extras)


@st.composite
def bodies(draw: st.DrawFn) -> bytes:
    """A request in one of the many ways in which it may be written."""
    indent = draw(st.sampled_from([None, None, 1]))
    separators = draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", " :\n")]))
    text = json.dumps(draw(requests()), ensure_ascii=draw(st.booleans()), indent=indent, separators=separators)
    return text.encode("utf-8", "surrogatepass")


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


def forward(line: tuple[asyncio.Runner, Wire], body: bytes) -> tuple[Answer, bytes | None]:
    """The answer, and the body that reached the upstream, if one did."""
    runner, wire = line
    wire.up.calls.clear()
    answer = runner.run(wire.ask(whole(b"{}"), PATH, body))
    return answer, wire.up.last.body if wire.up.calls else None


def strings_of_results(body: bytes) -> list[tuple[int, int]]:
    """Spans of the texts that may be rewritten: in a message after the first answer, of a role for results."""
    read = chat_completions.read(body, BoundedCache(1 << 20))
    return [(placed.start + t.start, placed.start + t.end) for placed in read.messages for t in placed.message.texts]


@every
@given(body=bodies())
def test_only_the_text_of_results_differs(line: tuple[asyncio.Runner, Wire], body: bytes) -> None:
    """Outside of the JSON strings of results every byte is the same, and each of them stays a string."""
    answer, forwarded = forward(line, body)
    assert answer.status == 200
    assert forwarded is not None
    at = old = 0
    for start, end in strings_of_results(body):
        between = body[old:start]
        assert forwarded[at : at + len(between)] == between
        _, size = json.JSONDecoder(strict=False).raw_decode(
            forwarded[at + len(between) :].decode("utf-8", "surrogatepass")
        )
        text = forwarded[at + len(between) :].decode("utf-8", "surrogatepass")[:size]
        at += len(between) + len(text.encode("utf-8", "surrogatepass"))
        old = end
    assert forwarded[at:] == body[old:]


@every
@given(body=bodies())
def test_a_retry_is_the_same_bytes(line: tuple[asyncio.Runner, Wire], body: bytes) -> None:
    """Whatever was decided is decided."""
    assert forward(line, body)[1] == forward(line, body)[1]


@every
@given(body=bodies())
def test_nothing_gets_longer(line: tuple[asyncio.Runner, Wire], body: bytes) -> None:
    """No text of a result, and so no request."""
    _, forwarded = forward(line, body)
    assert forwarded is not None
    before = chat_completions.read(body, BoundedCache(1 << 20)).messages
    after = chat_completions.read(forwarded, BoundedCache(1 << 20)).messages
    for old, new in zip(before, after, strict=True):
        for one, other in zip(old.message.texts, new.message.texts, strict=True):
            assert len(other.value) <= len(one.value)


@settings(every, max_examples=150)
@given(
    body=st.binary(max_size=60) | st.text(alphabet='{}[]",:\\ \t1etrufalsn0"', max_size=60).map(str.encode),
    data=st.data(),
)
def test_no_bytes_end_the_process(line: tuple[asyncio.Runner, Wire], body: bytes, data: st.DataObject) -> None:
    """Rubbish, and requests with rubbish in them, get an answer that is meant."""
    if data.draw(st.booleans()):
        good = data.draw(bodies())
        at = data.draw(st.integers(0, len(good)))
        body = good[:at] + body + good[data.draw(st.integers(at, len(good))) :]
    answer, forwarded = forward(line, body)

    assert answer.status in (200, 400)
    try:
        chat_completions.read(body, BoundedCache(1 << 20))
    except BadRequest:
        assert (answer.status, forwarded) == (400, None)
