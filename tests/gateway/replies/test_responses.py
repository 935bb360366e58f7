"""Responses answers: what one says, whole, streamed, cut off or failed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.replies import Reply
from gateway.replies.responses import read_reply

SSE = "text/event-stream"
USAGE = {"input_tokens": 3, "output_tokens": 2}
TEXT = {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": "Hello"}]}
CALL = {"type": "function_call", "id": "f", "call_id": "c", "name": "bash", "arguments": '{"command":"ls"}'}
THOUGHT = {"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "gAAASECRET"}


def response(status: str = "completed", output: Any = (), **more: Any) -> dict[str, Any]:
    """A response as it stands in answers and events."""
    return {"id": "resp_1", "object": "response", "status": status, "error": None, "output": list(output), **more}


def event(kind: str, **more: Any) -> dict[str, Any]:
    """One event."""
    return {"type": kind, **more}


def delta(kind: str, text: Any, at: int = 0, **more: Any) -> dict[str, Any]:
    """A piece of an item."""
    return event(f"response.{kind}.delta", delta=text, output_index=at, **more)


def stream(*events: Any) -> bytes:
    """Events as they come; a string is put in as it is."""
    return "".join(e if isinstance(e, str) else f"data: {json.dumps(e)}\n\n" for e in events).encode()


def message(*output: Any, name: str | None = "resp_1") -> dict[str, Any]:
    """What the archive keeps of an answer."""
    return {"type": "response", "id": name, "role": "assistant", "output": list(output)}


def reply(**fields: Any) -> Reply:
    """A reply with these fields and nothing in the others."""
    empty: dict[str, Any] = {"message": {}, "finish_reason": None, "usage": None, "error": None, "complete": False}
    return Reply(**(empty | fields))


CREATED = event("response.created", response=response("in_progress"))
ADDED = event("response.output_item.added", output_index=0, item={**TEXT, "content": []})
DONE = event("response.output_item.done", output_index=0, item=TEXT)
COMPLETED = event("response.completed", response=response(output=[TEXT], usage=USAGE))

STREAMS: dict[str, tuple[bytes, Reply]] = {
    "nothing": (b"", reply()),
    "a mark and nothing else": (stream("data: [DONE]\n\n"), reply()),
    "events that nobody knows": (stream(event("response.hologram", output_index="x"), event("ping"), [1]), reply()),
    "no JSON": (stream("data: {\n\n"), reply(error="a chunk of the stream is not JSON")),
    "an event that is the error": (
        stream(CREATED, event("error", code="server_error", message="overloaded", param=None)),
        reply(message=message(), error="overloaded"),
    ),
    "an event with the error in it": (
        stream(CREATED, event("error", error={"type": "x", "message": "overloaded"})),
        reply(message=message(), error="overloaded"),
    ),
    "a failure": (
        stream(event("response.failed", response=response("failed", error={"code": "x", "message": "broke"}))),
        reply(message=message(), error="broke", finish_reason="failed"),
    ),
    "the beginning": (stream(CREATED), reply(message=message())),
    "an end before its time": (
        stream(CREATED, ADDED, delta("output_text", "Hel"), delta("output_text", "lo")),
        reply(message=message(TEXT), words="Hello"),
    ),
    "an end behind an item": (stream(CREATED, ADDED, DONE), reply(message=message(TEXT), words="Hello")),
    "an item, then half of one": (
        stream(
            DONE,
            event("response.output_item.added", output_index=1, item={**CALL, "arguments": ""}),
            delta("function_call_arguments", '{"comm', at=1),
        ),
        reply(message=message(TEXT, {**CALL, "arguments": '{"comm'}, name=None), words='Hello\nbash {"comm'),
    ),
    "pieces of nothing that was begun": (
        stream(delta("output_text", "b", content_index=1), delta("output_text", "a", content_index=0)),
        reply(
            message=message(
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": "a"}, {"type": "output_text", "text": "b"}],
                },
                name=None,
            ),
            words="a\nb",
        ),
    ),
    "thoughts, half told": (
        stream(
            event("response.output_item.added", output_index=0, item={"type": "reasoning", "summary": []}),
            delta("reasoning_summary_text", "I", summary_index=0),
            delta("reasoning_summary_text", "f", summary_index=0),
        ),
        reply(message=message({"type": "reasoning", "summary": [{"type": "summary_text", "text": "If"}]}, name=None)),
    ),
    "pieces that are no text": (stream(delta("output_text", {"a": 1}), delta("output_text", None)), reply()),
    "an end that says less than its items": (
        stream(DONE, event("response.completed", response=response(usage=USAGE))),
        reply(message=message(TEXT), words="Hello", finish_reason="completed", usage=USAGE, complete=True),
    ),
    "too few tokens": (
        stream(
            event(
                "response.incomplete",
                response=response("incomplete", [TEXT], incomplete_details={"reason": "max_output_tokens"}),
            )
        ),
        reply(message=message(TEXT), words="Hello", finish_reason="max_output_tokens", complete=True),
    ),
    "all of it": (
        stream(CREATED, ADDED, delta("output_text", "Hello"), DONE, COMPLETED),
        reply(message=message(TEXT), words="Hello", finish_reason="completed", usage=USAGE, complete=True),
    ),
}


@pytest.mark.parametrize(("body", "expected"), STREAMS.values(), ids=STREAMS)
def test_streams(body: bytes, expected: Reply) -> None:
    """The last event carries everything; without it the answer is what was said before, and not complete."""
    assert read_reply(body, SSE) == expected


WHOLE: dict[str, tuple[Any, Reply]] = {
    "an error": ({"error": {"message": "no", "code": None}}, reply(error="no")),
    "something else": ({"object": "list"}, reply()),
    "a failure": (
        response("failed", error={"code": "server_error", "message": "broke"}),
        reply(message=message(), error="broke", finish_reason="failed"),
    ),
    "one that is still worked on": (
        response("queued"),
        reply(message=message(), finish_reason="queued", complete=True),
    ),
    "text, a call and thoughts": (
        response(output=[THOUGHT, TEXT, CALL], usage=USAGE),
        reply(
            message=message(THOUGHT, TEXT, CALL),
            words='Hello\nbash {"command":"ls"}',
            finish_reason="completed",
            usage=USAGE,
            complete=True,
        ),
    ),
    "calls of all kinds, and items of none": (
        response(
            output=[
                {"type": "shell_call", "action": {"commands": ["ls"]}},
                {"type": "custom_tool_call", "name": "patch", "input": "*** Begin"},
                {"type": "message", "content": [{"type": "refusal", "refusal": "No."}, None, {"type": "hologram"}]},
                {"type": "message", "content": None},
                {"type": "hologram"},
                4,
            ]
        ),
        reply(
            message=message(
                {"type": "shell_call", "action": {"commands": ["ls"]}},
                {"type": "custom_tool_call", "name": "patch", "input": "*** Begin"},
                {"type": "message", "content": [{"type": "refusal", "refusal": "No."}, None, {"type": "hologram"}]},
                {"type": "message", "content": None},
                {"type": "hologram"},
                4,
            ),
            words='shell_call {"commands":["ls"]}\npatch *** Begin\nNo.',
            finish_reason="completed",
            complete=True,
        ),
    ),
}


@pytest.mark.parametrize(("body", "expected"), WHOLE.values(), ids=WHOLE)
def test_whole_answers(body: Any, expected: Reply) -> None:
    """What is encrypted is kept, and not counted as words."""
    assert read_reply(json.dumps(body).encode(), "application/json") == expected


@given(cut=st.integers(0, 400))
def test_a_truncated_stream_never_looks_complete(cut: int) -> None:
    """Wherever it ends before its last event does."""
    body = stream(CREATED, ADDED, delta("output_text", "Hello"), DONE, COMPLETED)
    end = body.index(b'data: {"type": "response.completed"')
    got = read_reply(body[: min(cut, end)], SSE)

    assert not got.complete
    assert got.finish_reason is None
    assert not read_reply(body[: len(body) - 3 - cut % 90], SSE).complete
