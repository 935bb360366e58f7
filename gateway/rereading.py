"""Conversations of the archive and of recordings, read once more, in the form in which they were had."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from gateway.cache import BoundedCache
from gateway.shapes import Shape, anthropic_messages, chat_completions, responses
from gateway.types import Conversation

_BLOCKS = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking"})


def reread(messages: Sequence[object]) -> tuple[Conversation, tuple[int, ...]]:
    """The conversation, and for each of its messages the place of the one that it stands in. Raises `BadRequest`.

    A message that was forgotten is `None`. An answer of Responses is one message to the archive, and as many as it has
    items in a request.
    """
    told = [(place, item) for place, message in enumerate(messages) if message is not None for item in _items(message)]
    listed = [item for _, item in told]
    shape, key = form_of(listed)
    body = json.dumps({"model": "recorded", key: listed}).encode()
    return shape.read(body, BoundedCache(0)), tuple(place for place, _ in told)


def _items(message: object) -> Iterator[object]:
    if isinstance(message, dict) and message.get("type") == "response" and isinstance(message.get("output"), list):
        yield from message["output"]
    else:
        yield message


def form_of(messages: Sequence[object]) -> tuple[Shape, str]:
    """The shape of messages, and the field that lists them; what every form could have is a chat completion."""
    for message in messages:
        if isinstance(message, dict) and isinstance(message.get("type"), str):
            return responses, "input"
        content = message.get("content") if isinstance(message, dict) else None
        parts = content if isinstance(content, list) else ()
        if any(isinstance(part, dict) and part.get("type") in _BLOCKS for part in parts):
            return anthropic_messages, "messages"
    return chat_completions, "messages"
