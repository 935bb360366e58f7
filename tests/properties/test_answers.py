"""Laws of reading answers: whatever a provider says, it is read as far as it can be, and no reason to fail."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.replies import Reply
from gateway.shapes import SHAPES, Shape

NAMES = [
    "choices", "message", "delta", "content", "tool_calls", "function", "arguments", "name", "index", "id", "role", "usage",
    "prompt_tokens", "finish_reason", "error", "type", "text", "response", "output", "output_index", "content_index", "item",
    "status", "incomplete_details", "summary", "input", "content_block", "partial_json", "stop_reason", "citation", "signature",
]  # fmt: skip
KINDS = [
    "message", "text", "tool_use", "function_call", "error", "response.created", "response.completed", "response.failed",
    "response.output_item.added", "response.output_item.done", "response.output_text.delta",
    "response.function_call_arguments.delta", "message_start", "message_delta", "message_stop", "content_block_start",
    "content_block_delta", "text_delta", "input_json_delta", "citations_delta", "assistant", "stop",
]  # fmt: skip
SCALARS = st.none() | st.booleans() | st.integers(-1, 2) | st.just(1.5) | st.sampled_from(["", "x", *KINDS])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=6),
    max_leaves=20,
)


def check(reply: Reply) -> None:
    """Its fields are what they say they are."""
    assert isinstance(reply.message, dict)
    assert isinstance(reply.words, str)
    assert reply.finish_reason is None or isinstance(reply.finish_reason, str)
    assert reply.usage is None or isinstance(reply.usage, dict)
    assert reply.error is None or isinstance(reply.error, str)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=lambda shape: str(shape.NAME))
@given(values=st.lists(VALUES, min_size=1, max_size=4))
def test_any_answer_can_be_read(shape: Shape, values: list[Any]) -> None:
    """Whole or in a stream, with any value in any place."""
    check(shape.read_reply(json.dumps(values[0]).encode(), "application/json"))
    events = b"".join(b"data: %b\n\n" % json.dumps(value).encode() for value in values)
    check(shape.read_reply(events, "text/event-stream"))
