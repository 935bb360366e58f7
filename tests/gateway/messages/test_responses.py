"""Items of a Responses request: who says what, what is asked for, what came of it, and which name that has."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.calls import command_of, is_shell
from gateway.messages.responses import read_message
from gateway.types import Call, Message

LIST = '["bash","-lc","ls -l"]'


def one(item: Any) -> Message:
    """An item as it is read."""
    return read_message(item if isinstance(item, bytes) else json.dumps(item).encode(), 0)


def output(kind: str, value: Any, **more: Any) -> dict[str, Any]:
    """A result of the call c."""
    return {"type": kind, "call_id": "c", "output": value, **more}


def chunk(stdout: Any, stderr: Any = "", outcome: Any = None) -> dict[str, Any]:
    """What one command of a shell call printed."""
    return {"stdout": stdout, "stderr": stderr, "outcome": outcome or {"type": "exit", "exit_code": 1}}


ROLES: dict[str, tuple[dict[str, Any], str]] = {
    "a type that nobody knows": ({"type": "hologram", "role": "user"}, "other"),
    "no type and nothing": ({}, "assistant"),
    "a reference without a type": ({"id": "msg_1"}, "assistant"),
    "a role that is none": ({"role": 7, "content": "x"}, "other"),
    "a person": ({"role": "user", "content": "x"}, "user"),
    "an operator": ({"type": "message", "role": "developer", "content": "x"}, "developer"),
    "a model": ({"type": "message", "role": "assistant", "content": []}, "assistant"),
    "a screenshot": (output("computer_call_output", {"type": "computer_screenshot"}), "other"),
    "tools that were found": ({"type": "tool_search_output", "tools": []}, "other"),
    "a program's output": (output("program_output", "x"), "other"),
    "an approval": ({"type": "mcp_approval_response", "approve": True}, "other"),
    "a call with its output": ({"type": "mcp_call", "id": "c", "name": "n", "arguments": "{}", "output": "x"}, "tool"),
    **{
        f"a {kind}": ({"type": kind, "id": "i", "call_id": "c"}, "assistant")
        for kind in (
            "function_call", "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call", "reasoning",
            "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "computer_call",
            "mcp_list_tools", "mcp_approval_request", "tool_search_call", "compaction", "item_reference",
        )
    },
    **{
        f"a {kind}": (output(kind, "x"), "tool")
        for kind in (
            "function_call_output", "custom_tool_call_output", "local_shell_call_output", "shell_call_output",
            "apply_patch_call_output",
        )
    },
}  # fmt: skip


@pytest.mark.parametrize(("item", "role"), ROLES.values(), ids=ROLES)
def test_whose_an_item_is(item: dict[str, Any], role: str) -> None:
    """The model's are those that it made; what came of its calls is a tool's; the rest is nobody's."""
    assert one(item).role == role


TEXTS: dict[str, tuple[Any, list[str]]] = {
    "of an operator": ({"role": "system", "content": "x"}, []),
    "of a model": ({"role": "assistant", "content": [{"type": "output_text", "text": "x"}]}, []),
    "of a screenshot": (output("computer_call_output", "x"), []),
    "of an unknown kind": (output("hologram_output", "x"), []),
    "of thoughts": ({"type": "reasoning", "summary": [{"type": "summary_text", "text": "x"}]}, []),
    "of a compaction": ({"type": "compaction", "encrypted_content": "x"}, []),
    "no output": ({"type": "function_call_output", "call_id": "c"}, []),
    "an output that is null": (output("function_call_output", None), []),
    "an output of a number": (output("function_call_output", 4), []),
    "a shell's output that is no list": (output("shell_call_output", 4), []),
    "a shell's output of anything": (output("shell_call_output", [None, 4, "x", {}, {"stdout": 1}]), []),
    "an image and a file": (
        output("function_call_output", [{"type": "input_image", "image_url": "u"}, {"type": "input_file"}]),
        [],
    ),
    "of a person": ({"role": "user", "content": [{"type": "input_text", "text": "x"}]}, ["x"]),
    "a string in the place of all items": (b'"x\\u00e9"', ["xé"]),
    "a string": (output("function_call_output", "x"), ["x"]),
    "a string of a custom tool": (output("custom_tool_call_output", "x"), ["x"]),
    "parts beside others": (
        output(
            "function_call_output",
            [
                {"type": "input_text", "text": "a", "prompt_cache_breakpoint": {"mode": "explicit"}},
                {"type": "input_image", "image_url": "u"},
                {"text": "b", "type": "input_text"},
            ],
        ),
        ["a", "b"],
    ),
    "of a local shell": (
        {"type": "local_shell_call_output", "id": "c", "output": '{"output":"x"}'},
        ['{"output":"x"}'],
    ),
    "of a shell": (
        output("shell_call_output", [chunk("a", "b"), chunk("c")], max_output_length=9),
        ["a", "b", "c", ""],
    ),
    "of a shell, written the other way round": (
        output("shell_call_output", [{"outcome": {"type": "timeout"}, "stderr": "b", "stdout": "a"}]),
        ["a", "b"],
    ),
    "of a patch": (output("apply_patch_call_output", "x", status="failed"), ["x"]),
    "of a remote tool": ({"type": "mcp_call", "id": "c", "arguments": "{}", "output": "x"}, ["x"]),
}


@pytest.mark.parametrize(("item", "texts"), TEXTS.values(), ids=TEXTS)
def test_texts_that_may_be_observations(item: Any, texts: list[str]) -> None:
    """They stand where the form has them, and each has the span of its string."""
    raw = item if isinstance(item, bytes) else json.dumps(item).encode()
    found = one(raw).texts

    assert [text.value for text in found] == texts
    assert [json.loads(raw[text.start : text.end]) for text in found] == texts
    if texts and b'"c"' in raw:
        assert {text.call for text in found} == {"c"}


@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        ({"type": "timeout"}, None),
        ({"type": "exit", "exit_code": True}, None),
        ({"type": "exit", "exit_code": "1"}, None),
        ("exit", None),
        ({"type": "exit", "exit_code": 0}, 0),
        ({"type": "exit", "exit_code": -9}, -9),
    ],
    ids=["timeout", "true", "a string", "no object", "success", "a signal"],
)
def test_a_shell_says_how_it_ended(outcome: Any, code: int | None) -> None:
    """Both streams of a command have its exit code, if it has one."""
    texts = one(output("shell_call_output", [chunk("a", "b", outcome), chunk("c")])).texts
    assert [text.exit_code for text in texts] == [code, code, 1, 1]


CALLS: dict[str, tuple[dict[str, Any], Call]] = {
    "nothing of it": ({"type": "function_call"}, Call(id="", tool="function", arguments="")),
    "odd types": (
        {"type": "function_call", "call_id": 7, "id": "i", "name": None, "arguments": {"a": 1}},
        Call(id="i", tool="function", arguments='{"a": 1}'),
    ),
    "a function": (
        {"type": "function_call", "id": "i", "call_id": "c", "name": "bash", "arguments": '{"command":"ls"}'},
        Call(id="c", tool="bash", arguments='{"command":"ls"}'),
    ),
    "a custom tool": (
        {"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": "*** Begin"},
        Call(id="c", tool="patch", arguments="*** Begin"),
    ),
    "a remote tool": (
        {"type": "mcp_call", "id": "m", "name": "find", "server_label": "s", "arguments": '{"q":1}', "output": "x"},
        Call(id="m", tool="find", arguments='{"q":1}'),
    ),
    "a patch": (
        {"type": "apply_patch_call", "call_id": "c", "operation": {"type": "delete_file", "path": "a"}},
        Call(id="c", tool="apply_patch", arguments='{"type": "delete_file", "path": "a"}'),
    ),
}


@pytest.mark.parametrize(("item", "call"), CALLS.values(), ids=CALLS)
def test_calls(item: dict[str, Any], call: Call) -> None:
    """Each is an item of its own."""
    assert one(item).calls == (call,)


@pytest.mark.parametrize(
    ("item", "command"),
    [
        ({"type": "local_shell_call", "id": "i", "action": {"type": "exec", "command": json.loads(LIST)}}, "ls -l"),
        ({"type": "shell_call", "call_id": "c", "action": {"commands": ["cd a", "ls"], "timeout_ms": 9}}, "cd a\nls"),
        ({"type": "function_call", "name": "shell", "arguments": f'{{"command":{LIST}}}'}, "ls -l"),
        ({"type": "function_call", "name": "exec_command", "arguments": '{"cmd":"ls","workdir":"/w"}'}, "ls"),
    ],
    ids=["a local shell", "a shell", "a shell that is a function", "an exec command"],
)
def test_commands(item: dict[str, Any], command: str) -> None:
    """What is run is found in the calls of all shells."""
    (call,) = one(item).calls
    assert (is_shell(call.tool), command_of(call.tool, call.arguments)) == (True, command)


@pytest.mark.parametrize(
    ("raw", "broken"),
    [
        (b'{"type":"function_call_output","call_id":"c","output":"x"}', None),
        (b'{"type":"function_call_output","call_id":"c","output":"\\ud83d"}', "lone surrogate"),
        (b'"\\ud83d"', "lone surrogate"),
        (b'{"type":"function_call_output","output":"x","output":"y"}', "duplicate key"),
        (b'{"type":"shell_call_output","output":[{"stdout":"x","stdout":"y"}]}', "duplicate key"),
        (b'{"type":"shell_call_output","output":[{"stdout":"x","stderr":"\\udc00"}]}', "lone surrogate"),
    ],
    ids=["whole", "half a pair", "half a pair alone", "a key twice", "a key twice inside", "half a pair inside"],
)
def test_an_item_that_cannot_be_spliced_says_why(raw: bytes, broken: str | None) -> None:
    """It has no texts then."""
    message = one(raw)
    assert (message.broken, bool(message.texts)) == (broken, broken is None)


THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
CALL = {"type": "function_call", "call_id": "c", "name": "bash", "arguments": '{"command": "ls"}'}
SHELL = {"type": "shell_call_output", "call_id": "c", "output": [chunk("a", "b")]}
SAME: dict[str, tuple[Any, Any]] = {
    "what a person said": (
        {"role": "user", "content": "x"},
        {"content": [{"text": "x", "type": "input_text"}], "role": "user", "type": "message", "id": "msg_1"},
    ),
    "all that a person said": ({"role": "user", "content": "x"}, b'"x"'),
    "what the model said": (
        {"role": "assistant", "content": "x"},
        {
            "id": "msg_1",
            "type": "message",
            "status": "completed",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "x", "annotations": [], "logprobs": []}],
        },
    ),
    "a call": (CALL, {"status": "completed", "arguments": '{"command":"ls"}', "id": "fc_1", **CALL}),
    "an output": (output("function_call_output", "x"), {"id": "fco_1", "output": "x", "status": "completed"}),
    "thoughts": (THOUGHT, {"encrypted_content": "gAAA", "content": None, "summary": [ ], "type": "reasoning"}),
    "what a shell printed": (
        SHELL,
        {**SHELL, "output": [{"outcome": {"exit_code": 1, "type": "exit"}, "stderr": "b", "stdout": "a"}]},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("item", "again"), SAME.values(), ids=SAME)
def test_an_item_has_one_name_in_all_its_forms(item: Any, again: Any) -> None:
    """Clients write older items anew, with the ids that they were given, or without."""
    if isinstance(again, dict) and again.get("id") == "fco_1":
        again = {"type": "function_call_output", "call_id": "c", **again}
    assert one(item).canonical == one(again).canonical


OTHER: dict[str, tuple[Any, Any]] = {
    "another call": (CALL, {**CALL, "call_id": "d"}),
    "another command": (CALL, {**CALL, "arguments": '{"command": "ls -l"}'}),
    "another output": (output("function_call_output", "x"), output("function_call_output", "y")),
    "an output of another call": (
        output("function_call_output", "x"),
        output("function_call_output", "x", call_id="d"),
    ),
    "an output of another kind": (output("function_call_output", "x"), output("custom_tool_call_output", "x")),
    "another end": (SHELL, {**SHELL, "output": [chunk("a", "b", {"type": "timeout"})]}),
    "other streams": (SHELL, {**SHELL, "output": [chunk("b", "a")]}),
    "another thought": (THOUGHT, {**THOUGHT, "encrypted_content": "gAAB"}),
    "another reference": ({"id": "msg_1"}, {"type": "item_reference", "id": "msg_2"}),
    "a patch that failed": (
        output("apply_patch_call_output", "x", status="failed"),
        output("apply_patch_call_output", "x", status="completed"),
    ),
    "a picture beside it": (
        output("function_call_output", "x"),
        output("function_call_output", [{"type": "input_text", "text": "x"}, {"type": "input_image"}]),
    ),
}


@pytest.mark.parametrize(("item", "other"), OTHER.values(), ids=OTHER)
def test_another_item_has_another_name(item: Any, other: Any) -> None:
    """Whatever they have in common."""
    assert one(item).canonical != one(other).canonical


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
kinds = st.sampled_from([kind for item, _ in ROLES.values() for kind in [item.get("type", "")]]) | st.text(max_size=9)


@given(
    kind=kinds,
    fields=st.dictionaries(
        st.sampled_from(
            ["output", "content", "role", "call_id", "id", "arguments", "input", "action", "operation", "name"]
        ),
        values,
    ),
)
def test_whatever_an_item_holds_it_is_read(kind: str, fields: dict[str, Any]) -> None:
    """Types that are not those of the API are no reason to fail, and the order of keys is none for another name."""
    item = {"type": kind, **fields}
    message = one(item)

    assert all(json.loads(json.dumps(item).encode()[t.start : t.end]) == t.value for t in message.texts)
    again = one(dict(reversed(item.items())))
    assert (again.canonical, again.role, again.calls) == (message.canonical, message.role, message.calls)
