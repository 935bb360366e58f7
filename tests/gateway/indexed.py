"""An index of memory, and requests that it is put into."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from gateway.cache import BoundedCache
from gateway.remembering.injecting import wrap
from gateway.shapes import chat_completions
from gateway.types import Conversation

INDEX = "# Index\nL2:MODELS\nL3:deploy\n[RULES]\nuse ASCII\n"
TEXT = wrap(INDEX)
SYSTEM = {"role": "system", "content": "You are careful."}
USER = {"role": "user", "content": "Do it."}
ANSWER = {"role": "assistant", "content": "Done."}


def read(body: bytes) -> Conversation:
    """The conversation in a body."""
    return chat_completions.read(body, BoundedCache(0))


def dump(messages: Sequence[Any], **more: Any) -> bytes:
    """A request."""
    return json.dumps({"model": "m", "messages": list(messages), **more}).encode()


def systems(body: bytes) -> Any:
    """What the system messages of a body hold."""
    return [m["content"] for m in json.loads(body)["messages"] if m["role"] in ("system", "developer")]
