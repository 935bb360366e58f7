"""A chat completion told as an answer of Messages: whole and in chunks it says the same."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import UpstreamBroke
from gateway.replies import Reply
from gateway.replies.anthropic_messages import read_reply
from gateway.translating import anthropic_messages

USAGE = {"prompt_tokens": 50, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 40}}


def completion(message: dict[str, Any], reason: str | None = "stop", **more: Any) -> dict[str, Any]:
    """A whole one."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason}
    return {"id": "c1", "model": "m", "choices": [choice], "usage": USAGE, **more}


def chunk(reason: str | None = None, usage: dict[str, Any] | None = None, **delta: Any) -> dict[str, Any]:
    """A piece of one."""
    choice = {"index": 0, "delta": delta, **({"finish_reason": reason} if reason else {})}
    return {"id": "c1", "model": "m", "choices": [choice], **({"usage": usage} if usage else {})}


def call(
    index: int | None, identity: str | None = None, name: str | None = None, arguments: str = ""
) -> dict[str, Any]:
    """A chunk with a piece of a call."""
    piece = {"index": index, "id": identity, "type": "function", "function": {"name": name, "arguments": arguments}}
    return chunk(tool_calls=[piece])


def events(*chunks: dict[str, Any]) -> bytes:
    """What a client hears of these chunks."""
    answering = anthropic_messages.start()
    return b"".join([*(answering.feed(each) for each in chunks), answering.end()])


def heard(*chunks: dict[str, Any]) -> Reply:
    """What it makes of it."""
    return read_reply(events(*chunks), "text/event-stream")


def kinds(told: bytes) -> list[str]:
    """The names of events, each with the block that it is about."""
    data = [json.loads(line[6:]) for line in told.decode().split("\n") if line.startswith("data: ")]
    return [f"{event['type']} {event.get('index', '')}".strip() for event in data]


def used(identity: str, name: str, **given_: Any) -> dict[str, Any]:
    """A block that calls a tool."""
    return {"type": "tool_use", "id": identity, "name": name, "input": given_}


def test_a_whole_answer() -> None:
    """Thoughts, words and calls are blocks, in this order; what came from the cache is no input."""
    calls = [{"id": "t1", "type": "function", "function": {"name": "ls", "arguments": '{"path": "/"}'}}]
    message = {"reasoning_content": "Hm.", "content": "Look.", "tool_calls": calls}
    told = json.loads(anthropic_messages.write(completion(message, "tool_calls")))

    assert told == {
        "id": "msg_c1", "type": "message", "role": "assistant", "model": "m",
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": ""}, {"type": "text", "text": "Look."},
            used("t1", "ls", path="/"),
        ],
        "stop_reason": "tool_use", "stop_sequence": None,
        "usage": {"input_tokens": 10, "cache_read_input_tokens": 40, "output_tokens": 7},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("finish", "calls", "reason"),
    [
        ("stop", False, "end_turn"), ("stop", True, "tool_use"), ("tool_calls", True, "tool_use"),
        ("length", False, "max_tokens"), ("length", True, "max_tokens"), ("content_filter", False, "refusal"),
        ("hologram", False, "end_turn"),
    ],
)  # fmt: skip
def test_why_it_ends(finish: str, calls: bool, reason: str) -> None:
    """The same whole and streamed."""
    made = [{"index": 0, "id": "t", "type": "function", "function": {"name": "ls", "arguments": "{}"}}] if calls else []
    told = json.loads(anthropic_messages.write(completion({"content": "x", "tool_calls": made}, finish)))

    assert told["stop_reason"] == reason
    assert heard(chunk(content="x", tool_calls=made), chunk(finish)).finish_reason == reason


def test_a_stream_of_thoughts_words_and_calls() -> None:
    """Each block ends before one of another kind begins; calls may grow side by side."""
    told = events(
        chunk(role="assistant", content=""),
        chunk(reasoning_content="Hm"),
        chunk(reasoning_content="."),
        chunk(content="Lo"),
        chunk(content="ok."),
        call(0, "t1", "ls", '{"pa'),
        call(1, "t2", "pwd"),
        call(0, arguments='th": 1}'),
        chunk("tool_calls"),
        {"id": "c1", "choices": [], "usage": USAGE},
    )
    reply = read_reply(told, "text/event-stream")

    assert reply.message["content"] == [
        {"type": "thinking", "thinking": "Hm.", "signature": ""},
        {"type": "text", "text": "Look."},
        used("t1", "ls", path=1),
        used("t2", "pwd"),
    ]
    assert reply.usage == {"input_tokens": 10, "cache_read_input_tokens": 40, "output_tokens": 7}
    assert kinds(told) == [
        "message_start",
        "content_block_start 0", "content_block_delta 0", "content_block_delta 0", "content_block_stop 0",
        "content_block_start 1", "content_block_delta 1", "content_block_delta 1", "content_block_stop 1",
        "content_block_start 2", "content_block_delta 2", "content_block_start 3", "content_block_delta 2",
        "content_block_stop 2", "content_block_stop 3",
        "message_delta", "message_stop",
    ]  # fmt: skip


@pytest.mark.parametrize("index", [0, None], ids=["all numbered 0", "not numbered"])
def test_calls_that_a_provider_does_not_tell_apart_by_number(index: int | None) -> None:
    """Another id with a name begins another."""
    reply = heard(
        call(index, "t1", "ls", '{"a":'),
        call(index, "t1", None, " 1}"),
        call(index, "t2", "ls", "{}"),
        chunk("tool_calls"),
    )
    assert reply.message["content"] == [used("t1", "ls", a=1), used("t2", "ls")]


def test_words_after_a_call_are_a_block_of_their_own() -> None:
    """And the call has ended before."""
    reply = heard(call(0, "t1", "ls", "{}"), chunk(content="Done."), chunk("stop"))
    assert reply.message["content"] == [used("t1", "ls"), {"type": "text", "text": "Done."}]


@pytest.mark.parametrize("chunks", [(), (chunk(content="x"),)], ids=["nothing came", "in the middle"])
def test_a_stream_without_a_reason_has_no_clean_end(chunks: tuple[dict[str, Any], ...]) -> None:
    """It was cut off."""
    with pytest.raises(UpstreamBroke, match="without saying why"):
        events(*chunks)


@pytest.mark.parametrize("arguments", ["[]", "rm -rf", '{"a": '], ids=["a list", "no JSON", "half an object"])
def test_a_call_that_makes_no_sense_is_no_answer(arguments: str) -> None:
    """Unless the answer was cut off in it, which its reason says."""
    calls = [{"id": "t1", "type": "function", "function": {"name": "ls", "arguments": arguments}}]
    with pytest.raises(UpstreamBroke, match="'ls'"):
        anthropic_messages.write(completion({"tool_calls": calls}, "tool_calls"))
    cut = json.loads(anthropic_messages.write(completion({"tool_calls": calls}, "length")))

    assert (cut["content"], cut["stop_reason"]) == ([used("t1", "ls")], "max_tokens")


def test_no_choice_is_no_answer() -> None:
    """A provider that filtered all of it."""
    with pytest.raises(UpstreamBroke, match="choice"):
        anthropic_messages.write({"choices": []})


@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, "invalid_request_error"), (429, "rate_limit_error"), (529, "overloaded_error"), (503, "api_error")],
)
def test_a_providers_error_has_the_type_of_its_status(status: int, kind: str) -> None:
    """With its words."""
    body = json.loads(anthropic_messages.refuse(status, {"message": "no", "type": "x", "param": None, "code": None}))
    assert body == {"type": "error", "error": {"type": kind, "message": "no"}}


pieces = st.lists(st.text(min_size=1, max_size=5), max_size=4)
given_calls = st.lists(st.dictionaries(st.text(max_size=4), st.text(max_size=6), max_size=2), max_size=3)


@given(thought=pieces, words=pieces, calls=given_calls, size=st.integers(1, 7))
def test_whole_and_in_chunks_it_says_the_same(
    thought: list[str], words: list[str], calls: list[Any], size: int
) -> None:
    """However it is cut."""
    told = [json.dumps(each) for each in calls]
    made = [{"id": f"t{k}", "function": {"name": "n", "arguments": each}} for k, each in enumerate(told)]
    message = {"reasoning_content": "".join(thought), "content": "".join(words), "tool_calls": made}
    one = read_reply(anthropic_messages.write(completion(message)), "application/json")
    chunks = [chunk(reasoning_content=piece) for piece in thought] + [chunk(content=piece) for piece in words]
    for k, each in enumerate(told):
        chunks.append(call(k, f"t{k}", "n"))
        chunks += [call(k, arguments=each[at : at + size]) for at in range(0, len(each), size)]

    assert heard(*chunks, chunk("stop", USAGE)) == one
