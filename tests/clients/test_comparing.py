"""The comparison finds every byte that differs where none may."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.clients.comparing import RESULTS, changed

BODIES: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {
        "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": "look"},
            {"role": "tool", "content": [{"type": "text", "text": "RESULT"}]},
            {"role": "user", "content": "OTHER"},
        ],
        "seed": 1,
    },
    "/v1/responses": {
        "input": [
            {"type": "message", "role": "user", "content": "go"},
            {"type": "function_call_output", "call_id": "c", "output": "RESULT"},
            {"type": "custom_tool_call_output", "call_id": "d", "output": [{"type": "input_text", "text": "OTHER"}]},
        ],
        "store": False,
    },
    "/v1/messages": {
        "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": [{"type": "text", "text": "look"}]},
            {"role": "user", "content": [{"type": "tool_result", "content": "RESULT"}]},
            {"role": "user", "content": [{"type": "tool_result", "content": [{"type": "text", "text": "OTHER"}]}]},
        ],
        "max_tokens": 9,
    },
}


@pytest.mark.parametrize("path", BODIES)
def test_results_may_differ(path: str) -> None:
    """They are given before and after; nothing is where nothing differs."""
    sent = json.dumps(BODIES[path]).encode()

    assert changed(sent, sent, RESULTS[path]) == []
    assert changed(sent, sent.replace(b"RESULT", b"less"), RESULTS[path]) == [("RESULT", "less")]
    assert len(changed(sent, sent.replace(b"RESULT", b"a").replace(b"OTHER", b"b"), RESULTS[path])) == 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"go"', b'"went"'),
        (b'"user"', b'"system"'),
        (b": ", b":"),
        (b", ", b",  "),
        (b"RESULT", b"RES\\u0055LT"),
    ],
    ids=["the task", "a role", "a blank", "another blank", "an escape in a result"],
)
@pytest.mark.parametrize("path", BODIES)
def test_nothing_else_may(path: str, old: bytes, new: bytes) -> None:
    """Neither a text, nor a blank, nor the manner of writing."""
    sent = json.dumps(BODIES[path]).encode()

    with pytest.raises((AssertionError, ValueError)):
        changed(sent, sent.replace(old, new, 1), RESULTS[path])
