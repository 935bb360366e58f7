"""Which of a client's tools runs a command, and how that tool is asked; in words where there is none."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from gateway.scenario import Turn

_KEYS = ("command", "cmd", "commands", "keystrokes", "script")
_FILLERS: Mapping[str, object] = {"boolean": False, "integer": 1, "number": 1, "array": [], "object": {}}
_SHELL = re.compile(r"bash|shell|terminal|exec|command", re.IGNORECASE)
COMMAND: Mapping[str, Any] = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
"""Schema of a tool that says only by its type that it takes a command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool that a request declares."""

    name: str
    kind: Literal["function", "custom", "script", "shell", "local_shell"] = "function"
    """A function has a schema; a custom tool takes any text, one of them a script that calls other tools; the others are
    known to the provider."""
    schema: Mapping[str, Any] = field(default_factory=dict)
    namespace: str | None = None


def command_tool(tools: Sequence[Tool]) -> Tool | None:
    """The tool that runs a command: one that is there for nothing else, one whose schema asks for one, one named so."""
    for tool in tools:
        if tool.kind in ("shell", "local_shell"):
            return tool
    functions = [tool for tool in tools if tool.kind == "function"]
    functions.sort(key=lambda tool: not _SHELL.search(tool.name))
    for key in _KEYS:
        for tool in functions:
            if "enum" not in tool.schema.get("properties", {}).get(key, {"enum": None}) and key in tool.schema.get(
                "required", [key]
            ):
                return tool
    return next((tool for tool in tools if tool.kind in ("custom", "script") and _SHELL.search(tool.name)), None)


def fill(tool: Tool, command: str) -> dict[str, object]:
    """Arguments of a function that runs a command; what else it requires gets a value of its type."""
    properties = tool.schema["properties"]
    key = next(key for key in _KEYS if key in properties)
    listed = [command] if key == "commands" else ["bash", "-lc", command]
    arguments: dict[str, object] = {key: listed if properties[key].get("type") == "array" else command}
    for name in tool.schema.get("required", ()):
        if name not in arguments:
            wanted = properties.get(name, {})
            arguments[name] = wanted.get("enum", [_FILLERS.get(wanted.get("type"), "")])[0]
    return arguments


def in_words(turn: Turn, conversation: str) -> str:
    """A turn as text, in the manner that the conversation asks for."""
    if "keystrokes" in conversation:
        commands = [{"keystrokes": command + "\n", "duration": 0.5} for command in turn.shell]
        plan = {"analysis": turn.text, "plan": turn.text, "commands": commands, "task_complete": not commands}
        return json.dumps(plan, indent=2)
    fence = "mswea_bash_command" if "mswea_bash_command" in conversation else "bash"
    return "\n\n".join([*filter(None, [turn.text]), *(f"```{fence}\n{command}\n```" for command in turn.shell)])
