"""What a Messages request becomes as a chat completion, and what it cannot become."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gateway.errors import BadRequest
from gateway.translating.anthropic_request import ask

MARK = {"cache_control": {"type": "ephemeral"}}
USER = {"role": "user", "content": "hi"}
THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "eA=="}}
URL = {"type": "image_url", "image_url": {"url": "data:image/png;base64,eA=="}}


def text(said: str) -> dict[str, Any]:
    """A block of text."""
    return {"type": "text", "text": said}


def call(name: str, **given: Any) -> dict[str, Any]:
    """A call."""
    return {"type": "tool_use", "id": f"t_{name}", "name": name, "input": given}


def called(name: str, **given: Any) -> dict[str, Any]:
    """The same in a chat completion."""
    return {"type": "function", "id": f"t_{name}", "function": {"name": name, "arguments": json.dumps(given)}}


def result(name: str, content: Any) -> dict[str, Any]:
    """What came of it."""
    return {"type": "tool_result", "tool_use_id": f"t_{name}", "content": content}


def tool(name: str, content: str) -> dict[str, Any]:
    """The same in a chat completion."""
    return {"role": "tool", "tool_call_id": f"t_{name}", "content": content}


@pytest.mark.parametrize(
    ("messages", "chat"),
    [
        pytest.param([USER], [USER], id="a string"),
        pytest.param([{"role": "user", "content": [text("hi") | MARK]}], [USER], id="one text with a mark"),
        pytest.param(
            [{"role": "user", "content": [text("a"), PICTURE]}],
            [{"role": "user", "content": [text("a"), URL]}],
            id="a text and a picture",
        ),
        pytest.param(
            [{"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "https://x.test/y"}}]}],
            [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://x.test/y"}}]}],
            id="a picture elsewhere",
        ),
        pytest.param([USER, {"role": "system", "content": [text("a"), text("b")]}], [USER, {"role": "system", "content": "a\n\nb"}], id="words of the system amid the others"),
        pytest.param([{"role": "assistant", "content": "a"}], [{"role": "assistant", "content": "a"}], id="an answer as a string"),
        pytest.param([{"role": "assistant", "content": [THOUGHT]}], [{"role": "assistant", "content": ""}], id="a thought alone"),
        pytest.param(
            [{"role": "assistant", "content": [THOUGHT, text("a"), call("ls", path="é"), call("pwd")]}],
            [{"role": "assistant", "content": "a", "tool_calls": [{**called("ls"), "function": {"name": "ls", "arguments": '{"path": "é"}'}}, called("pwd")]}],
            id="words and calls",
        ),
        pytest.param([{"role": "assistant", "content": [call("ls")]}], [{"role": "assistant", "content": None, "tool_calls": [called("ls")]}], id="calls alone"),
        pytest.param(
            [{"role": "user", "content": [result("ls", "x"), result("pwd", [text("a"), text("b")]), text("go on"), text("!")]}],
            [tool("ls", "x"), tool("pwd", "a\n\nb"), {"role": "user", "content": [text("go on"), text("!")]}],
            id="results, and then the user",
        ),
        pytest.param([{"role": "user", "content": [result("ls", None), result("pwd", [])]}], [tool("ls", ""), tool("pwd", "")], id="results that say nothing"),
        pytest.param(
            [{"role": "user", "content": [result("see", [text("it is"), PICTURE]), text("look")]}],
            [tool("see", "it is"), {"role": "user", "content": [URL, text("look")]}],
            id="a picture in a result",
        ),
        pytest.param([{"role": "user", "content": []}], [], id="a message that says nothing"),
    ],
)  # fmt: skip
def test_messages(messages: list[Any], chat: list[Any]) -> None:
    """In their order; each result is a message of its own."""
    assert ask({"model": "m", "messages": messages})["messages"] == chat


@pytest.mark.parametrize(
    ("system", "chat"),
    [
        (None, []),
        ("", []),
        ("a", [{"role": "system", "content": "a"}]),
        ([text("a") | MARK, text("b")], [{"role": "system", "content": "a\n\nb"}]),
    ],
    ids=["none", "empty", "a string", "blocks"],
)
def test_the_systems_words_come_first(system: Any, chat: list[Any]) -> None:
    """As one message."""
    assert ask({"model": "m", "messages": [USER], "system": system})["messages"] == [*chat, USER]


@pytest.mark.parametrize(
    ("fields", "chat"),
    [
        ({"max_tokens": 9, "temperature": 0.5, "top_p": 0.9, "top_k": 4}, {"max_tokens": 9, "temperature": 0.5, "top_p": 0.9, "top_k": 4}),
        ({"stop_sequences": ["x"]}, {"stop": ["x"]}),
        ({"stream": True}, {"stream": True, "stream_options": {"include_usage": True}}),
        ({"stream": False}, {"stream": False}),
        (
            {"tools": [{"name": "ls", "description": "d", "input_schema": {"type": "object"}, **MARK}]},
            {"tools": [{"type": "function", "function": {"name": "ls", "description": "d", "parameters": {"type": "object"}}}]},
        ),
        ({"tools": [], "mcp_servers": [], "container": None}, {}),
        ({"tool_choice": {"type": "auto"}}, {"tool_choice": "auto"}),
        ({"tool_choice": {"type": "any", "disable_parallel_tool_use": True}}, {"tool_choice": "required", "parallel_tool_calls": False}),
        ({"tool_choice": {"type": "none"}}, {"tool_choice": "none"}),
        ({"tool_choice": {"type": "tool", "name": "ls"}}, {"tool_choice": {"type": "function", "function": {"name": "ls"}}}),
        ({"thinking": {"type": "adaptive"}, "metadata": {"user_id": "u"}, "output_config": {"effort": "high", "format": None}}, {}),
        ({"context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]}}, {}),
    ],
    ids=["of the same name", "ends", "streamed", "whole", "tools", "empty ones", "any tool or none", "some tool", "no tool", "one tool", "hints", "thoughts that are cleared"],
)  # fmt: skip
def test_fields(fields: dict[str, Any], chat: dict[str, Any]) -> None:
    """By their names in the other API; hints are left out."""
    assert ask({"model": "m", "messages": [USER], **fields}) == {"model": "m", "messages": [USER], **chat}


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"tools": [{"type": "web_search_20250305", "name": "web_search"}]}, "tools[0]"),
        ({"tools": [{"name": "no schema"}]}, "tools[0]"),
        ({"tools": "all"}, "tools"),
        ({"tool_choice": {"type": "hologram"}}, "tool_choice"),
        ({"tool_choice": "auto"}, "tool_choice"),
        ({"mcp_servers": [{"url": "https://x.test"}]}, "mcp_servers"),
        ({"output_config": {"format": {"type": "json_schema"}}}, "output_config"),
        ({"context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]}}, "context_management"),
        ({"context_management": "auto"}, "context_management"),
        ({"nobody_knows": 1}, "nobody_knows"),
        ({"system": [{"type": "hologram"}]}, "system[0]"),
        ({"system": 4}, "system"),
        ({"messages": [{"role": "critic", "content": "x"}]}, "messages[0].role"),
        ({"messages": ["x"]}, "messages[0]"),
        ({"messages": [{"role": "user", "content": ["x"]}]}, "messages[0].content[0]"),
        ({"messages": [USER, {"role": "user", "content": [{"type": "document"}]}]}, "messages[1].content[0]"),
        ({"messages": [{"role": "user", "content": [{"type": "image", "source": {"type": "file"}}]}]}, "messages[0].content[0]"),
        ({"messages": [{"role": "user", "content": [{"type": "text", "text": 4}]}]}, "messages[0].content[0]"),
        ({"messages": [{"role": "user", "content": [result("ls", [{"type": "search_result"}])]}]}, "messages[0].content[0].content[0]"),
        ({"messages": [{"role": "assistant", "content": [THOUGHT, {"type": "server_tool_use"}]}]}, "messages[0].content[1]"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_what_cannot_be_translated_is_an_error_that_says_so(fields: dict[str, Any], named: str) -> None:
    """With the place, and what to do."""
    with pytest.raises(BadRequest, match="leave it out") as refused:
        ask({"model": "m", "messages": [USER], **fields})
    assert refused.value.param == named
    assert f"'{named}'" in refused.value.message
