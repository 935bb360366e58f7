"""What a message says: words out of every form, and who speaks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memory.L4_raw_sessions.said import ROLES, said


@pytest.mark.parametrize(
    ("data", "role", "text"),
    [
        pytest.param(b"{}", "user", "", id="an empty message says nothing"),
        pytest.param(b"no json", "user", "no json", id="no JSON is taken as it stands"),
        pytest.param(b"[1]", "user", "[1]", id="no message is taken as it stands"),
        pytest.param(b'"words"', "user", "words", id="a string"),
    ],
)
def test_what_is_no_message(data: bytes, role: str, text: str) -> None:
    """It is not lost, and costs nothing."""
    assert (said(data).role, said(data).text) == (role, text)


CALL = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command":"ls"}'}}


@pytest.mark.parametrize(
    ("message", "role", "text"),
    [
        pytest.param({"role": "user", "content": "hello"}, "user", "hello", id="words of a user"),
        pytest.param({"role": "developer", "content": "rules"}, "system", "rules", id="a developer is the system"),
        pytest.param({"role": "tool", "tool_call_id": "c1", "content": "out"}, "tool", "out", id="a tool's result"),
        pytest.param(
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            "assistant",
            'bash\n{"command":"ls"}',
            id="a call with its arguments",
        ),
        pytest.param(
            {
                "role": "user",
                "content": [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": "data:x"}],
            },
            "user",
            "see",
            id="parts, of which a picture has no words",
        ),
        pytest.param(
            {"role": "assistant", "reasoning_content": "hm", "content": "so"}, "assistant", "hm\nso", id="thoughts"
        ),
        pytest.param(
            {"type": "function_call", "name": "bash", "arguments": '{"a":1}'},
            "assistant",
            'bash\n{"a":1}',
            id="Responses: a call",
        ),
        pytest.param({"type": "function_call_output", "output": "out"}, "tool", "out", id="Responses: a result"),
        pytest.param(
            {"type": "shell_call_output", "output": [{"stdout": "a", "stderr": "b", "outcome": {"type": "exit"}}]},
            "tool",
            "a\nb",
            id="Responses: what a shell printed",
        ),
        pytest.param(
            {"type": "apply_patch_call", "operation": {"path": "a.py"}},
            "assistant",
            '{"path": "a.py"}',
            id="Responses: a patch",
        ),
        pytest.param(
            {"type": "mcp_call", "name": "find", "arguments": "{}", "output": "out"},
            "tool",
            "find\n{}\nout",
            id="Responses: a call with its result",
        ),
        pytest.param(
            {"type": "reasoning", "summary": [{"text": "hm"}], "encrypted_content": "gAAA"},
            "assistant",
            "hm",
            id="Responses: thoughts, of which the encrypted have no words",
        ),
        pytest.param(
            {
                "type": "response",
                "id": "r",
                "role": "assistant",
                "output": [
                    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "so"}]},
                    {"type": "function_call", "name": "bash", "arguments": "{}"},
                ],
            },
            "assistant",
            "so\nbash\n{}",
            id="Responses: an answer",
        ),
        pytest.param(
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
            "user",
            "hi",
            id="Responses: a message",
        ),
        pytest.param(
            {"role": "assistant", "content": [{"type": "tool_use", "name": "read", "input": {"path": "é"}}]},
            "assistant",
            'read\n{"path": "é"}',
            id="Messages: a call",
        ),
        pytest.param(
            {"role": "user", "content": [{"type": "tool_result", "content": [{"type": "text", "text": "out"}]}]},
            "tool",
            "out",
            id="Messages: a result",
        ),
    ],
)
def test_words_of_every_form(message: dict[str, Any], role: str, text: str) -> None:
    """Each of the three forms of the API says what it says."""
    found = said(json.dumps(message).encode())
    assert (found.role, found.text) == (role, text)
    assert found.role in ROLES
