"""Responses, as the scripted model reads and speaks them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gateway.playing.commands import COMMAND, Tool
from gateway.playing.responses import answer, compact, error, events, read, stream
from gateway.playing.saying import Refused, Said, Usage
from gateway.replies.responses import read_reply
from gateway.scenario import Fault
from gateway.sse import encode

USER = {"role": "user", "content": [{"type": "input_text", "text": "go"}]}
SAID = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]}
THOUGHT = {"type": "reasoning", "summary": []}
CALL = {"type": "function_call", "call_id": "c", "name": "bash", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "c", "output": "out"}
SHOWN = {"type": "shell_call_output", "call_id": "c", "output": [{"stdout": "out", "stderr": "err", "outcome": {}}]}
PRINTED = {"type": "local_shell_call_output", "id": "c", "output": '{"output": "out"}'}
USAGE = Usage(prompt=9, cached=4, written=0, answer=7, reasoning=2)
SH = Tool(name="sh", schema=COMMAND)


def said(tool: Tool | None) -> Said:
    """A turn for a tool."""
    return Said(number=3, text="Größe\u2028 " * 9, reasoning="Hm. " * 9, tool=tool, commands=("ls", "pwd") * bool(tool))


@pytest.mark.parametrize(
    ("given", "answers", "told"),
    [
        pytest.param(None, 0, (), id="nothing"),
        pytest.param("go", 0, (), id="a string"),
        pytest.param([USER], 0, (), id="the task is nothing that was told"),
        pytest.param([USER, THOUGHT, SAID, CALL, CALL, RESULT, RESULT], 1, ("out", "out"), id="one turn of many items"),
        pytest.param([USER, CALL, SHOWN, SAID, USER], 2, ("out\nerr", "go"), id="two turns"),
        pytest.param([USER, {"role": "assistant", "content": "x"}, PRINTED], 1, (PRINTED["output"],), id="short items"),
        pytest.param([USER, {"type": "item_reference", "id": "rs_1"}, RESULT], 1, ("out",), id="an item by its name"),
        pytest.param(
            [USER, {"type": "compaction", "encrypted_content": "NA=="}, CALL, RESULT],
            5,
            ("out",),
            id="what was compacted goes on",
        ),
    ],
)
def test_reads(given: object, answers: int, told: tuple[str, ...]) -> None:
    """Items of the model that stand together are a turn."""
    asked = read({"input": given})
    assert (asked.answers, asked.told) == (answers, told)


def test_compacts() -> None:
    """What people said stays, as messages; the last item stands for the turns."""
    items: list[dict[str, Any]] = [USER, CALL, RESULT, SAID, {"role": "user", "content": "on"}]
    whole = compact(items, read({"input": items}), 30, 1)
    *people, mark = whole["output"]
    assert [message["content"][0]["text"] for message in people] == ["go", "on"]
    assert read({"input": [mark, CALL]}).answers == 3
    assert (whole["usage"]["input_tokens"], whole["usage"]["total_tokens"]) == (30, 31)


def test_goes_on_from_what_is_kept() -> None:
    """What the provider keeps stands before what the request brings."""
    asked = read({"input": [RESULT]}, [USER, CALL])
    assert (asked.answers, asked.told) == (1, ("out",))


CALLS = "Runs a script. It may await tools.exec_command({cmd}) and others."


@pytest.mark.parametrize(
    ("declared", "tool"),
    [
        ({"type": "function", "name": "bash", "parameters": COMMAND}, Tool(name="bash", schema=COMMAND)),
        ({"type": "custom", "name": "bash"}, Tool(name="bash", kind="custom")),
        ({"type": "shell"}, Tool(name="shell", kind="shell")),
        ({"type": "local_shell"}, Tool(name="local_shell", kind="local_shell")),
        (
            {"type": "namespace", "name": "ns", "tools": [{"type": "function", "name": "sh", "parameters": COMMAND}]},
            Tool(name="sh", schema=COMMAND, namespace="ns"),
        ),
        (
            {"type": "namespace", "name": "ns", "tools": [{"type": "custom", "name": "x", "description": CALLS}]},
            Tool(name="x", kind="script", namespace="ns"),
        ),
    ],
)
def test_tools(declared: dict[str, Any], tool: Tool) -> None:
    """All kinds that run commands are known, others are not in the way; wherever they are declared."""
    tools = [{"type": "web_search"}, declared]
    assert read({"tools": tools}).tools == (tool,)
    assert read({"input": [{"type": "additional_tools", "role": "developer", "tools": tools}]}).tools == (tool,)


@pytest.mark.parametrize(
    ("tool", "kind", "called"),
    [
        pytest.param(SH, "function_call", {"name": "sh", "arguments": '{"command": "ls"}'}, id="a function"),
        pytest.param(
            Tool(name="sh", schema=COMMAND, namespace="ns"),
            "function_call",
            {"name": "sh", "arguments": '{"command": "ls"}', "namespace": "ns"},
            id="a function of a namespace",
        ),
        pytest.param(
            Tool(name="bash", kind="custom"), "custom_tool_call", {"name": "bash", "input": "ls"}, id="a custom tool"
        ),
        pytest.param(
            Tool(name="exec", kind="script", namespace="ns"),
            "custom_tool_call",
            {
                "name": "exec",
                "namespace": "ns",
                "input": 'const run = await tools.exec_command({cmd: "ls"});\ntext(run.output);',
            },
            id="a script that calls tools",
        ),
        pytest.param(
            Tool(name="shell", kind="shell"),
            "shell_call",
            {"action": {"commands": ["ls"], "max_output_length": None, "timeout_ms": None}},
            id="the shell",
        ),
        pytest.param(
            Tool(name="local_shell", kind="local_shell"),
            "local_shell_call",
            {"action": {"type": "exec", "command": ["bash", "-lc", "ls"], "env": {}}},
            id="the local shell",
        ),
    ],
)
def test_the_call_and_its_stream(tool: Tool, kind: str, called: dict[str, Any]) -> None:
    """Each kind of tool has its own item; the events of all of them, in order, make up the response."""
    asked = read({"model": "m", "input": "go", "store": False, "include": ["reasoning.encrypted_content"]})
    whole = answer(said(tool), asked, USAGE, 8)
    thought, text, one, two = whole["output"]
    assert thought["encrypted_content"]
    assert text["content"][0]["text"] == said(tool).text
    assert (one["type"], one["call_id"], two["call_id"]) == (kind, "call_3_0", "call_3_1")
    assert {key: value for key, value in one.items() if key not in ("type", "id", "call_id", "status")} == called
    assert len({item["id"] for item in whole["output"]}) == 4
    assert (whole["id"], whole["model"], whole["store"]) == ("resp_8", "m", False)

    told = list(stream(whole, asked, Fault()))
    data = [json.loads(event.data) for event in told]
    assert [event["sequence_number"] for event in data] == list(range(len(told)))
    assert [event.name for event in told] == [event["type"] for event in data]
    for end in (None, -1):
        reply = read_reply(b"".join(map(encode, told[:end])), "text/event-stream")
        assert (reply.message["output"], reply.complete) == (whole["output"], end is None)
    assert reply.usage is None


def test_usage() -> None:
    """What came from the cache is part of the input."""
    usage = answer(said(None), read({}), USAGE, 1)["usage"]
    assert (usage["input_tokens"], usage["input_tokens_details"]["cached_tokens"], usage["total_tokens"]) == (9, 4, 16)


@pytest.mark.parametrize("named", ["conv_1", {"id": "conv_1"}])
def test_names_its_conversation(named: object) -> None:
    """However the request names it."""
    assert answer(said(None), read({"conversation": named}), USAGE, 1)["conversation"] == {"id": "conv_1"}


def test_a_warm_up() -> None:
    """Nothing is said, and the response is whole."""
    asked = read({"input": [], "generate": False})
    whole = answer(Said(number=0, text=""), asked, USAGE, 1)
    assert asked.silent
    assert whole["output"] == []
    assert [event["type"] for event in events(whole, asked, Fault())][-1] == "response.completed"


@pytest.mark.parametrize(
    ("refused", "kind", "code"),
    [
        (Refused(400, "no", code="x", param="input"), "invalid_request_error", "x"),
        (Refused(429, "no"), "invalid_request_error", "rate_limit_exceeded"),
        (Refused(500, "no"), "server_error", None),
    ],
)
def test_errors(refused: Refused, kind: str, code: str | None) -> None:
    """Their body is the API's."""
    assert error(refused) == {"error": {"message": "no", "type": kind, "param": refused.param, "code": code}}
