"""Calls and results of the Responses form, each kind of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memory.L4_raw_sessions.chat import as_chat
from memory.L4_raw_sessions.items import called, items, result
from memory.L4_raw_sessions.said import said
from memory.L4_raw_sessions.words import read_message


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"type": 3},
        {"type": "message", "role": "user", "content": "hi"},
        {"type": "reasoning", "summary": []},
        {"type": "mcp_list_tools", "tools": []},
        {"type": "output", "output": "x"},
        {"role": "tool", "content": "x"},
    ],
    ids=str,
)
def test_neither_call_nor_result(message: dict[str, Any]) -> None:
    """A message is one item, and nothing is called in it."""
    assert (called(message), result(message)) == (None, None)
    assert list(items(message)) == [message]


@pytest.mark.parametrize(
    ("item", "name", "arguments"),
    [
        ({"type": "function_call", "name": "ls", "arguments": "{}"}, "ls", "{}"),
        ({"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin"}, "apply_patch", "*** Begin"),
        ({"type": "local_shell_call", "action": {"command": ["ls"]}}, "local_shell", '{"command": ["ls"]}'),
        ({"type": "shell_call", "action": {"commands": ["ls"]}}, "shell", '{"commands": ["ls"]}'),
        ({"type": "apply_patch_call", "operation": {"path": "a"}}, "apply_patch", '{"path": "a"}'),
        ({"type": "mcp_call", "name": "find", "arguments": "{}"}, "find", "{}"),
    ],
    ids=lambda value: value["type"] if isinstance(value, dict) else "",
)
def test_every_kind_of_call(item: dict[str, Any], name: str, arguments: str) -> None:
    """Is a call in a chat, is named in the histories, and can be searched for."""
    item = {"call_id": "c1", **item}
    data = json.dumps(item).encode()
    (message,) = as_chat([item])
    assert message["tool_calls"][0] == {
        "id": "c1",
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }
    assert [(one.speaker, one.tools) for one in read_message(data)] == [("Agent", (("c1", name),))]
    assert said(data).role == "assistant"
    assert arguments in said(data).text


PRINTED = {"stdout": "out", "stderr": "warn", "outcome": {"type": "exit", "exit_code": 0}}


@pytest.mark.parametrize(
    ("item", "text", "failed"),
    [
        pytest.param({"type": "function_call_output", "output": "out"}, "out", False, id="a function's"),
        pytest.param(
            {"type": "function_call_output", "output": [{"type": "input_text", "text": "out"}]},
            "out",
            False,
            id="parts",
        ),
        pytest.param({"type": "custom_tool_call_output", "output": "out"}, "out", False, id="a custom tool's"),
        pytest.param({"type": "local_shell_call_output", "output": "out"}, "out", False, id="the local shell's"),
        pytest.param({"type": "shell_call_output", "output": [PRINTED]}, "out\nwarn", False, id="a shell's"),
        pytest.param({"type": "shell_call_output", "output": [{"stderr": "bad"}]}, "bad", False, id="one stream only"),
        pytest.param({"type": "shell_call_output", "output": [{"stdout": ""}]}, "", False, id="nothing printed"),
        pytest.param(
            {
                "type": "shell_call_output",
                "output": [PRINTED, {**PRINTED, "outcome": {"type": "exit", "exit_code": 2}}],
            },
            "out\nwarn\nout\nwarn",
            True,
            id="a shell's, the second of two commands failed",
        ),
        pytest.param(
            {"type": "shell_call_output", "output": [{"stdout": "out", "outcome": {"type": "timeout"}}]},
            "out",
            True,
            id="a shell's that took too long",
        ),
        pytest.param({"type": "apply_patch_call_output", "output": "done"}, "done", False, id="a patch's"),
        pytest.param(
            {"type": "apply_patch_call_output", "status": "failed", "output": "no such file"},
            "no such file",
            True,
            id="a patch's that did not fit",
        ),
        pytest.param({"type": "computer_call_output", "output": {"type": "image"}}, "", False, id="a picture"),
    ],
)
def test_every_kind_of_result(item: dict[str, Any], text: str, failed: bool) -> None:
    """Is a tool's message in a chat, is said to have gone well or not, and can be searched for."""
    item = {"call_id": "c1", **item}
    data = json.dumps(item).encode()
    (one,) = read_message(data)
    assert (one.speaker, one.text, one.tools, one.failed) == ("Tool", text, (("c1", ""),), failed)
    (message,) = as_chat([item])
    assert (message["role"], message["tool_call_id"]) == ("tool", "c1")
    assert not text or message["content"] == text
    assert said(data).role == "tool"
    assert said(data).text == text


@pytest.mark.parametrize(
    ("more", "text", "failed"),
    [({"output": "out"}, "out", False), ({"output": None, "error": "no server"}, "no server", True)],
    ids=["went well", "failed"],
)
def test_a_call_that_holds_its_result(more: dict[str, Any], text: str, failed: bool) -> None:
    """A call of a remote tool: the call and what came of it."""
    item = {"type": "mcp_call", "id": "m1", "name": "find", "arguments": "{}", **more}
    call, answer = as_chat([item])
    assert (call["tool_calls"][0]["id"], answer) == ("m1", {"role": "tool", "tool_call_id": "m1", "content": text})
    assert [(one.speaker, one.failed) for one in read_message(json.dumps(item).encode())] == [
        ("Agent", False),
        ("Tool", failed),
    ]
    assert (said(json.dumps(item).encode()).role, text in said(json.dumps(item).encode()).text) == ("tool", True)


def test_an_answer_of_several_items() -> None:
    """Each is told by itself, in order."""
    answer = {
        "type": "response",
        "role": "assistant",
        "output": [
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "so"}]},
            {"type": "shell_call", "call_id": "c1", "action": {"commands": ["ls"]}},
            7,
        ],
    }
    assert [(one.speaker, one.text, one.tools) for one in read_message(json.dumps(answer).encode())] == [
        ("Agent", "so", ()),
        ("Agent", "", (("c1", "shell"),)),
    ]


@pytest.mark.parametrize(
    ("block", "failed"),
    [
        ({}, False),
        ({"is_error": False}, False),
        ({"is_error": True}, True),
        ({"is_error": "yes"}, False),
    ],
    ids=str,
)
def test_a_result_of_the_messages_form(block: dict[str, Any], failed: bool) -> None:
    """Is an error where it is marked so."""
    part = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "no match"}], **block}
    (one,) = read_message(json.dumps({"role": "user", "content": [part]}).encode())
    assert (one.speaker, one.text, one.failed) == ("Tool", "no match", failed)
