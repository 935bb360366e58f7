"""What an answer of Messages says, whole and streamed, to its end and broken off."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.replies import Reply
from gateway.replies.anthropic_messages import read_reply

SSE = "text/event-stream; charset=utf-8"
USAGE = {"input_tokens": 30, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 0, "output_tokens": 1}
HEAD = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": None}
START = {"type": "message_start", "message": {**HEAD, "content": [], "usage": USAGE}}
STOP = {"type": "message_stop"}


def stream(*events: dict[str, Any]) -> Reply:
    """What these events say."""
    return read_reply("".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events).encode(), SSE)


def begin(block: Any, index: Any = 0) -> dict[str, Any]:
    """The beginning of a block."""
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(kind: str, index: Any = 0, **fields: Any) -> dict[str, Any]:
    """A piece of a block."""
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def end(reason: str = "end_turn", **usage: Any) -> dict[str, Any]:
    """Why it ends, and what it cost."""
    return {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage}


TEXT = {"type": "text", "text": ""}
CALL = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}
SAID: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]], str]] = {
    "text": (
        [begin(TEXT), delta("text_delta", text="a "), {"type": "ping"}, delta("text_delta", text="b")],
        [{"type": "text", "text": "a b"}], "a b",
    ),
    "text that begins with its block": ([begin({"type": "text", "text": "a"}), delta("text_delta", text="b")], [{"type": "text", "text": "ab"}], "ab"),
    "a call": (
        [begin(CALL), delta("input_json_delta", partial_json=""), delta("input_json_delta", partial_json='{"command": "l'), delta("input_json_delta", partial_json='s"}')],
        [CALL | {"input": {"command": "ls"}}], 'Bash {"command":"ls"}',
    ),
    "a call without input": ([begin(CALL)], [CALL], "Bash {}"),
    "a call that breaks off": ([begin(CALL), delta("input_json_delta", partial_json='{"command": "l')], [CALL | {"input": '{"command": "l'}], 'Bash {"command": "l'),
    "thoughts with their signature": (
        [begin({"type": "thinking", "thinking": "", "signature": ""}), delta("thinking_delta", thinking="It is "), delta("thinking_delta", thinking="so."), delta("signature_delta", signature="c2ln")],
        [{"type": "thinking", "thinking": "It is so.", "signature": "c2ln"}], "",
    ),
    "thoughts that nobody may read": ([begin({"type": "redacted_thinking", "data": "x"})], [{"type": "redacted_thinking", "data": "x"}], ""),
    "a source": (
        [begin(TEXT), delta("text_delta", text="a"), delta("citations_delta", citation={"cited_text": "q"}), delta("citations_delta", citation={"cited_text": "r"})],
        [{"type": "text", "text": "a", "citations": [{"cited_text": "q"}, {"cited_text": "r"}]}], "a",
    ),
    "several blocks, in the order of their numbers": (
        [begin(CALL, 1), begin(TEXT, 0), delta("input_json_delta", 1, partial_json="{}"), delta("text_delta", 0, text="a")],
        [{"type": "text", "text": "a"}, CALL], "a\nBash {}",
    ),
    "a block that was never begun": ([delta("text_delta", text="a")], [{"type": "text", "text": "a"}], "a"),
    "what nobody knows": ([begin(TEXT), delta("hologram_delta", beam="x"), {"type": "odd", "index": []}, {"type": "odder", "data": 4}, delta("text_delta", text=4)], [TEXT], ""),
}  # fmt: skip


@pytest.mark.parametrize(("events", "content", "words"), SAID.values(), ids=SAID)
def test_a_stream_put_together(events: list[dict[str, Any]], content: list[Any], words: str) -> None:
    """Block by block, as the whole answer would have them."""
    reply = stream(START, *events, {"type": "content_block_stop", "index": 0}, end(output_tokens=9), STOP)

    assert reply.message == {"role": "assistant", "content": content}
    assert reply.words == words
    assert (reply.finish_reason, reply.error, reply.complete) == ("end_turn", None, True)


def test_a_whole_answer() -> None:
    """The same blocks, in one piece."""
    content = [
        {"type": "text", "text": "a"},
        CALL | {"input": {"command": "ls"}},
        {"type": "thinking", "thinking": "x"},
    ]
    body = json.dumps({**HEAD, "content": content, "stop_reason": "tool_use", "usage": USAGE}).encode()

    assert read_reply(body, "application/json") == Reply(
        message={"role": "assistant", "content": content},
        words='a\nBash {"command":"ls"}',
        finish_reason="tool_use",
        usage=USAGE,
        error=None,
        complete=True,
    )


@pytest.mark.parametrize(
    ("late", "usage"),
    [
        pytest.param({}, USAGE, id="nothing more"),
        pytest.param({"output_tokens": 9}, USAGE | {"output_tokens": 9}, id="the answer's tokens"),
        pytest.param({"input_tokens": 42, "output_tokens": 9}, USAGE | {"input_tokens": 42, "output_tokens": 9}, id="the input again, grown"),
        pytest.param({"input_tokens": 0, "cache_read_input_tokens": None, "output_tokens": 9}, USAGE | {"output_tokens": 9}, id="zeros and nulls where nobody counted"),
        pytest.param({"output_tokens": 9, "server_tool_use": {"web_search_requests": 1}}, USAGE | {"output_tokens": 9, "server_tool_use": {"web_search_requests": 1}}, id="a field of its own"),
    ],
)  # fmt: skip
def test_3_15_07_usage_is_merged_and_never_summed(late: dict[str, Any], usage: dict[str, Any]) -> None:
    """What the end says counts from the beginning."""
    assert stream(START, end(**late), STOP).usage == usage


def test_nothing_reported_is_no_zero() -> None:
    """A stream without usage has none."""
    start = {"type": "message_start", "message": {**HEAD, "content": []}}
    reply = stream(start, {"type": "message_delta", "delta": None}, STOP)

    assert (reply.usage, reply.complete) == (None, True)


@pytest.mark.parametrize(
    ("events", "error"),
    [
        ((START, begin(TEXT), delta("text_delta", text="a")), None),
        ((START,), None),
        ((), "the response is empty"),
        ((START, {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}), "busy"),
        ((START, {"type": "error", "error": {"message": "busy"}}, end(), STOP), "busy"),
    ],
    ids=["in the middle", "at the beginning", "before it", "by an error", "by an error before an end"],
)
def test_what_breaks_off_is_not_complete(events: tuple[dict[str, Any], ...], error: str | None) -> None:
    """What came before is there."""
    reply = stream(*events) if events else read_reply(b"", "application/json")

    assert (reply.complete, reply.error) == (False, error)


def test_an_error_body() -> None:
    """It has the provider's words, and no message."""
    body = {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}, "request_id": "req_1"}
    reply = read_reply(json.dumps(body).encode(), "application/json")

    assert (reply.message, reply.error, reply.complete) == ({}, "slow down", False)


@pytest.mark.parametrize(
    "event", [[], 4, {"type": "message_start", "message": 4}, begin(4), {"type": "message", "content": [4]}], ids=repr
)
def test_events_of_odd_types_are_passed_over(event: Any) -> None:
    """They stop nothing."""
    reply = read_reply(f"data: {json.dumps(event)}\n\n".encode(), SSE)
    assert reply.error is None


@given(st.lists(st.text(max_size=8)), st.binary(max_size=30))
def test_pieces_make_up_the_text_whatever_they_are(pieces: list[str], rubbish: bytes) -> None:
    """And rubbish behind them does not raise."""
    events = [START, begin(TEXT), *(delta("text_delta", text=piece) for piece in pieces)]
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode()

    assert read_reply(body + rubbish, SSE).message["content"][0]["text"] == "".join(pieces)
