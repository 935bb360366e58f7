"""Agents that speak Responses: of what each sends back, only the output of its command is open to a rewrite."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from gateway.cache import BoundedCache
from gateway.framings import put
from gateway.identity import Observer, chain, declares_shell
from gateway.shapes import responses

SHOWN = "one\ntwo\n"


@dataclass(frozen=True)
class Case:
    """A call, what the agent gives back with `SHOWN` in it, and what is known of that."""

    call: dict[str, Any]
    result: dict[str, Any]
    command: str = "make"
    code: int | None = 0
    bodies: tuple[str, ...] = (SHOWN,)


def function(name: str, arguments: dict[str, Any], output: Any, **known: Any) -> Case:
    """A tool that is a function."""
    call = {"type": "function_call", "call_id": "c", "name": name, "arguments": json.dumps(arguments)}
    return Case(call, {"type": "function_call_output", "call_id": "c", "output": output}, **known)


def codex(head: str, output: str = SHOWN, **known: Any) -> Case:
    """Codex's command tool."""
    return function("exec_command", {"cmd": "make", "yield_time_ms": 1000}, f"{head}Output:\n{output}", **known)


def built_in(kind: str, asked: dict[str, Any], output: Any, **known: Any) -> Case:
    """A tool that the API itself has."""
    return Case(
        {"type": kind, "call_id": "c", **asked}, {"type": f"{kind}_output", "call_id": "c", "output": output}, **known
    )


OLDER = json.dumps({"output": SHOWN, "metadata": {"exit_code": 0, "duration_seconds": 0.1}})
EXEC = {"action": {"type": "exec", "command": ["bash", "-lc", "make"], "env": {}}}
PATCH = "*** Begin Patch\n*** Add File: a.py\n+x\n*** End Patch"
CASES: dict[str, Case] = {
    "Codex, nothing printed": codex("Chunk ID: 0a\nWall time: 0.1 seconds\nProcess exited with code 0\n", "", bodies=()),
    "Codex": codex("Chunk ID: 0a1b2c\nWall time: 0.1385 seconds\nProcess exited with code 2\nOriginal token count: 9\n", code=2),
    "Codex, a run that goes on": codex(
        "Chunk ID: 0a\nWall time: 10.0 seconds\nProcess running with session ID 7\nOriginal token count: 9\n", code=None
    ),
    "Codex, cut in the middle": codex(
        "Chunk ID: 0a\nWall time: 0.1 seconds\nProcess exited with code 0\nOriginal token count: 18174\n",
        "Warning: truncated output (original token count: 18174)\nTotal output lines: 1073\n\none\n…62693 chars truncated…two\n",
        bodies=("one\n…62693 chars truncated…two\n",),
    ),
    "Codex, its patches": Case(
        {"type": "custom_tool_call", "call_id": "c", "name": "apply_patch", "input": PATCH},
        {
            "type": "custom_tool_call_output",
            "call_id": "c",
            "output": f"Exit code: 1\nWall time: 0 seconds\nOutput:\n{SHOWN}",
        },
        command=PATCH,
        code=1,
    ),
    "Codex, its scripts": Case(
        {"type": "custom_tool_call", "call_id": "c", "name": "exec", "input": "make"},
        {
            "type": "custom_tool_call_output",
            "call_id": "c",
            "output": [{"type": "input_text", "text": f"Script completed\nWall time 0.1 seconds\nOutput:\n{SHOWN}"}],
        },
        code=None,
    ),
    "an older Codex": function("shell", {"command": ["bash", "-lc", "make"], "workdir": "/w"}, OLDER),
    "an older Codex, freeform": function(
        "shell_command", {"command": "make"}, f"Exit code: 0\nWall time: 1.5 seconds\nTotal output lines: 2\nOutput:\n{SHOWN}"
    ),
    "an older Codex with a local shell": Case(
        {"type": "local_shell_call", "id": "i", "call_id": "c", **EXEC},
        {"type": "local_shell_call_output", "id": "c", "output": OLDER},
    ),
    "pi": function("bash", {"command": "make"}, f"{SHOWN}\n\nCommand exited with code 2", code=2),
    "pi, a success": function("bash", {"command": "make", "timeout": 9}, SHOWN, code=None),
    "the Agents SDK": function("bash", {"command": "make"}, SHOWN, code=None),
    "the Agents SDK, parts beside a picture": function(
        "bash",
        {"command": "make"},
        [{"type": "input_image", "image_url": "u"}, {"type": "input_text", "text": SHOWN}],
        code=None,
    ),
    "the Agents SDK, its shell": built_in(
        "shell_call",
        {"action": {"commands": ["make", "ls"], "timeout_ms": None}, "status": "completed"},
        [{"stdout": SHOWN, "stderr": "no rule\n", "outcome": {"type": "exit", "exit_code": 2}}],
        command="make\nls",
        code=2,
        bodies=(SHOWN, "no rule\n"),
    ),
    "the Agents SDK, its local shell": built_in("local_shell_call", EXEC, SHOWN, code=None),
    "the Agents SDK, its patches": built_in(
        "apply_patch_call",
        {"operation": {"type": "delete_file", "path": "a.py"}},
        SHOWN,
        command='{"path":"a.py","type":"delete_file"}',
        code=None,
    ),
    "OpenHands": function(
        "terminal",
        {"command": "make", "is_input": "false"},
        [
            {
                "type": "input_text",
                "text": f"{SHOWN}\n[Current working directory: /w]\n[Python interpreter: /p]\n[Command finished with exit code 2]",
            }
        ],
        code=2,
    ),
    "Goose": function("developer__shell", {"command": "make"}, SHOWN, code=None),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_output_of_a_command_is_found(case: Case) -> None:
    """With its command and exit code; what the agent wraps around it stays."""
    body = {"model": "m", "input": [{"role": "user", "content": "make it"}, case.call, case.result]}
    conversation = responses.read(json.dumps(body).encode(), BoundedCache(0))
    seen = Observer().observe(conversation, "", chain(conversation, ""))
    items = [item for one in seen for item in one.items]

    assert tuple(item.observation.text for item in items) == case.bodies
    assert {(item.observation.command, item.observation.exit_code) for item in items} <= {(case.command, case.code)}
    for one in seen:
        assert put(one.text.value, one.frame, [item.observation.text for item in one.items]) == one.text.value
    if "patch" not in json.dumps(case.call):
        assert declares_shell(conversation, seen) or not items
