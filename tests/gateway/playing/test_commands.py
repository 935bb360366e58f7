"""Commands: which tool runs one, how it is asked, and how a turn says it in words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from gateway.playing.commands import Tool, command_tool, fill, in_words
from gateway.scenario import Turn

TEXT = {"type": "string"}
LIST = {"type": "array"}
LOOK = Turn(text="Look.", shell=("ls -a",))


def tool(name: str, properties: Mapping[str, Any], *required: str) -> Tool:
    """A function with a schema."""
    return Tool(name=name, schema={"type": "object", "properties": properties, "required": list(required)})


BASH = tool("bash", {"command": TEXT, "timeout": {"type": "integer"}}, "command")
EDITOR = tool("editor", {"command": {"type": "string", "enum": ["view", "create"]}, "path": TEXT}, "command", "path")
RISKY = {"command": TEXT, "why": TEXT, "bg": {"type": "boolean"}, "risk": {"type": "string", "enum": ["low", "high"]}}
OPEN = Tool(name="exec", schema={"properties": {"cmd": TEXT}})
PATCH = Tool(name="apply_patch", kind="custom")
SHELL = Tool(name="shell", kind="shell")


@pytest.mark.parametrize(
    ("tools", "chosen"),
    [
        pytest.param([], None, id="no tools"),
        pytest.param([EDITOR], None, id="a command that is one of a few words is none"),
        pytest.param([tool("task", {"command": TEXT})], None, id="a command that need not be given is none"),
        pytest.param([Tool(name="ping")], None, id="a tool without arguments"),
        pytest.param([PATCH], None, id="a custom tool for something else"),
        pytest.param([EDITOR, BASH], BASH, id="the usual tool"),
        pytest.param([OPEN], OPEN, id="a schema that requires nothing"),
        pytest.param([tool("monitor", {"command": TEXT}, "command"), BASH], BASH, id="of two the one that is named so"),
        pytest.param([tool("flow", {"script": TEXT}, "script"), OPEN], OPEN, id="a command before a script"),
        pytest.param([BASH, SHELL], SHELL, id="the provider's own shell"),
        pytest.param([PATCH, Tool(name="bash", kind="custom")], Tool(name="bash", kind="custom"), id="a custom shell"),
        pytest.param([Tool(name="exec", kind="custom"), BASH], BASH, id="a function before a custom tool"),
    ],
)
def test_chooses_the_command_tool(tools: list[Tool], chosen: Tool | None) -> None:
    """The tool that takes a command is found by its kind, its schema and its name."""
    assert command_tool(tools) == chosen


@pytest.mark.parametrize(
    ("asked", "arguments"),
    [
        pytest.param(BASH, {"command": "ls -a"}, id="a text"),
        pytest.param(OPEN, {"cmd": "ls -a"}, id="a text of another name"),
        pytest.param(tool("run", {"commands": LIST}, "commands"), {"commands": ["ls -a"]}, id="a list of commands"),
        pytest.param(
            tool("shell", {"command": LIST}, "command"), {"command": ["bash", "-lc", "ls -a"]}, id="a list of words"
        ),
        pytest.param(
            tool("sh", RISKY, "command", "why", "bg", "risk"),
            {"command": "ls -a", "why": "", "bg": False, "risk": "low"},
            id="what else is required is filled in",
        ),
    ],
)
def test_fills(asked: Tool, arguments: dict[str, object]) -> None:
    """The command is put as the tool's own schema wants it."""
    assert fill(asked, "ls -a") == arguments


@pytest.mark.parametrize(
    ("turn", "prompt", "text"),
    [
        pytest.param(Turn(text="Done."), "go", "Done.", id="no command"),
        pytest.param(LOOK, "go", "Look.\n\n```bash\nls -a\n```", id="a fenced block"),
        pytest.param(Turn(shell=("ls", "pwd")), "go", "```bash\nls\n```\n\n```bash\npwd\n```", id="only blocks"),
        pytest.param(
            LOOK, "use ```mswea_bash_command", "Look.\n\n```mswea_bash_command\nls -a\n```", id="mini-swe-agent's block"
        ),
    ],
)
def test_says_the_command_in_words(turn: Turn, prompt: str, text: str) -> None:
    """The command is a block in the text."""
    assert in_words(turn, prompt) == text


@pytest.mark.parametrize(("turn", "keys"), [(LOOK, ["ls -a\n"]), (Turn(text="Done."), [])])
def test_keystrokes(turn: Turn, keys: list[str]) -> None:
    """An agent that asks for keystrokes gets them as JSON; a turn without any completes the task."""
    plan = json.loads(in_words(turn, "JSON with keystrokes, please"))
    assert [command["keystrokes"] for command in plan["commands"]] == keys
    assert plan["task_complete"] == (not keys)
