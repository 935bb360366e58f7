"""Messages of any form as chat messages."""

from __future__ import annotations

from typing import Any

import pytest

from memory.L4_raw_sessions.chat import as_chat, opening

CALL = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
SHELL = {
    "id": "c2",
    "type": "function",
    "function": {"name": "local_shell", "arguments": '{"command": ["pwd"]}'},
}
OTHER = {"id": "c2", "type": "function", "function": {"name": "pwd", "arguments": "{}"}}


@pytest.mark.parametrize(
    "messages",
    [
        pytest.param([], id="nothing"),
        pytest.param([{"role": "user", "content": "hi", "name": "me", "extra": [1]}], id="whatever else it says"),
        pytest.param([{"role": "assistant", "content": None, "tool_calls": [CALL]}], id="a call"),
        pytest.param([{"role": "tool", "tool_call_id": "c1", "content": "out"}], id="a result"),
        pytest.param([{"role": "user", "content": [{"type": "text", "text": "a"}]}], id="parts"),
        pytest.param([{"role": "assistant", "content": "a"}, {"role": "assistant", "content": "b"}], id="two in a row"),
    ],
)
def test_chat_messages_stay(messages: list[Any]) -> None:
    """As they are."""
    assert as_chat(messages) == messages


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        pytest.param(["words", None, 3], [], id="what is no message is left out"),
        pytest.param(
            [
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
                {"type": "reasoning", "summary": []},
                {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}"},
                {"type": "function_call", "call_id": "c2", "name": "pwd", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c1", "output": "out"},
                {"type": "function_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "x"}]},
            ],
            [
                {"role": "user", "content": [{"type": "text", "text": "hi"}]},
                {"role": "assistant", "content": None, "tool_calls": [CALL, OTHER]},
                {"role": "tool", "tool_call_id": "c1", "content": "out"},
                {"role": "tool", "tool_call_id": "c2", "content": "x"},
            ],
            id="items of the Responses form; calls of one turn together",
        ),
        pytest.param(
            [
                {"role": "user", "content": "hi"},
                {
                    "type": "response",
                    "id": "r",
                    "role": "assistant",
                    "output": [
                        {"type": "reasoning", "summary": []},
                        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "so"}]},
                        {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}"},
                    ],
                },
                {"type": "local_shell_call", "call_id": "c2", "action": {"command": ["pwd"]}},
                {"type": "shell_call_output", "call_id": "c2", "output": [{"stdout": "a", "stderr": "b"}]},
                {"type": "mcp_call", "id": "c3", "name": "find", "arguments": "{}", "output": "out"},
                {"type": "hologram", "data": 1},
            ],
            [
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": [{"type": "text", "text": "so"}], "tool_calls": [CALL, SHELL]},
                {"role": "tool", "tool_call_id": "c2", "content": "a\nb"},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": "c3", "type": "function", "function": {"name": "find", "arguments": "{}"}}],
                },
                {"role": "tool", "tool_call_id": "c3", "content": "out"},
            ],
            id="answers of the Responses form, and calls of all kinds; what nobody knows is left out",
        ),
        pytest.param(
            [
                {
                    "role": "assistant",
                    "content": [
                        {"type": "text", "text": "look"},
                        {"type": "tool_use", "id": "c1", "name": "ls", "input": {}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "out"}]},
                        {"type": "text", "text": "go on"},
                    ],
                },
            ],
            [
                {"role": "assistant", "content": "look", "tool_calls": [CALL]},
                {"role": "tool", "tool_call_id": "c1", "content": "out"},
                {"role": "user", "content": [{"type": "text", "text": "go on"}]},
            ],
            id="blocks of the Messages form",
        ),
        pytest.param(
            [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "see", "cache_control": {"type": "ephemeral"}},
                        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "eA=="}},
                        {"type": "image", "source": {"type": "url", "url": "https://x.test/y"}},
                    ],
                },
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "hm", "signature": "s"},
                        {"type": "redacted_thinking", "data": "x"},
                        {"type": "text", "text": "a bar"},
                    ],
                },
                {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}]},
            ],
            [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "see"},
                        {"type": "image_url", "image_url": {"url": "data:image/png;base64,eA=="}},
                        {"type": "image_url", "image_url": {"url": "https://x.test/y"}},
                    ],
                },
                {"role": "assistant", "content": [{"type": "text", "text": "a bar"}]},
            ],
            id="pictures of the Messages form; thoughts and cache marks are nobody else's",
        ),
    ],
)
def test_other_forms(messages: list[Any], expected: list[Any]) -> None:
    """The same conversation in the form of the chat completions API."""
    assert as_chat(messages) == expected


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        pytest.param(b"", None, id="no head"),
        pytest.param(b"[]", None, id="no object"),
        pytest.param(b'{"messages": [], "system": null}', None, id="null"),
        pytest.param(b'{"messages": [], "system": ""}', None, id="nothing said"),
        pytest.param(b'{"messages": [], "system": {"text": "x"}}', None, id="what is neither"),
        pytest.param(b'{"messages": [], "system": "careful"}', "careful", id="of the Messages form"),
        pytest.param(
            b'{"system": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}', "a\nb", id="in blocks"
        ),
        pytest.param(b'{"input": [], "instructions": "careful"}', "careful", id="of the Responses form"),
    ],
)
def test_system_words_beside_the_messages(head: bytes, expected: str | None) -> None:
    """They are the first message of a chat."""
    assert opening(head) == ([] if expected is None else [{"role": "system", "content": expected}])
