"""A scenario: what a scripted model says, turn by turn, in the form that the agent at hand understands.

{"turns": [{"text": "Look around.", "shell": "ls"}, {"shell": ["pytest -q", "git status"]}, {"text": "Done."}]}
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_COMMAND_KEYS = ("command", "cmd", "commands", "keystrokes", "script")
_FILLERS: Mapping[str, object] = {"boolean": False, "integer": 1, "number": 1, "array": [], "object": {}}


class ScenarioError(Exception):
    """A scenario that cannot be played; says which turn and which field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What goes wrong with a turn, and how often; a turn may also just be sent in an unusual manner."""

    times: int = 1
    """The turn is answered well after so many attempts; 0 means that it never is."""
    status: int | None = None
    retry_after: float | None = None
    error_event: str | None = None
    """An error inside the stream, after the head."""
    break_after: int | None = None
    """The connection breaks after so many chunks of a stream, or bytes of a whole answer."""
    delay_first: float = 0.0
    delay_each: float = 0.0
    """Seconds before the first byte, and before each further chunk."""
    encoding: str | None = None
    line_end: str = "\n"
    cut: int | None = None
    """Size of the pieces in bytes, whatever the chunks are."""
    no_done: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One assistant message: words, shell commands, or both."""

    text: str = ""
    reasoning: str = ""
    shell: tuple[str, ...] = ()
    fault: Fault | None = None


@dataclass(frozen=True, slots=True)
class Scenario:
    """Turns, in order; the last one is said again to whoever goes on asking."""

    turns: tuple[Turn, ...] = field(default=(Turn(text="Done."),))

    def turn(self, messages: Sequence[Mapping[str, Any]]) -> tuple[int, Turn]:
        """The turn that is due, by the number of answers in the request: a retry gets the same one."""
        due = min(sum(message.get("role") == "assistant" for message in messages), len(self.turns) - 1)
        return due, self.turns[due]


def load_scenario(text: str) -> Scenario:
    """A scenario from its JSON. Raises `ScenarioError`."""
    try:
        raw = json.loads(text)
    except ValueError as error:
        raise ScenarioError(f"the scenario is not JSON: {error}") from error
    turns = raw.get("turns") if isinstance(raw, dict) else None
    if not isinstance(turns, list) or not turns:
        raise ScenarioError('a scenario is an object with a list "turns" that is not empty')
    return Scenario(tuple(_load_turn(number, turn) for number, turn in enumerate(turns)))


def _load_turn(number: int, raw: object) -> Turn:
    try:
        fields = dict(raw)  # type: ignore[call-overload]
        shell = fields.pop("shell", ())
        fault = fields.pop("fault", None)
        return Turn(
            **fields, shell=(shell,) if isinstance(shell, str) else tuple(shell), fault=fault and Fault(**fault)
        )
    except (TypeError, ValueError) as error:
        raise ScenarioError(f"turn {number} of the scenario cannot be read: {error}") from error


def answer(turn: Turn, due: int, request: Mapping[str, Any]) -> dict[str, Any]:
    """The assistant message of a turn, with calls of the request's own command tool, or in the text form it asks for."""
    message: dict[str, Any] = {"role": "assistant", "content": turn.text or None}
    if turn.reasoning:
        message["reasoning_content"] = turn.reasoning
    tool = _command_tool(request.get("tools") or ())
    if tool is None:
        message["content"] = _in_words(turn, json.dumps(request.get("messages", "")))
    elif turn.shell:
        name, schema = tool
        message["tool_calls"] = [
            {"id": f"call_{due}_{n}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for n, arguments in enumerate(json.dumps(_fill(schema, command)) for command in turn.shell)
        ]
    return message


def _command_tool(tools: Sequence[Mapping[str, Any]]) -> tuple[str, Mapping[str, Any]] | None:
    functions = [function for tool in tools if isinstance(function := tool.get("function"), dict)]
    for key in _COMMAND_KEYS:
        for function in functions:
            schema = function.get("parameters") or {}
            if "enum" not in schema.get("properties", {}).get(key, {"enum": None}) and key in schema.get(
                "required", [key]
            ):
                return function["name"], schema
    return None


def _fill(schema: Mapping[str, Any], command: str) -> dict[str, object]:
    properties = schema["properties"]
    key = next(key for key in _COMMAND_KEYS if key in properties)
    listed = [command] if key == "commands" else ["bash", "-lc", command]
    arguments: dict[str, object] = {key: listed if properties[key].get("type") == "array" else command}
    for name in schema.get("required", ()):
        if name not in arguments:
            wanted = properties.get(name, {})
            arguments[name] = wanted.get("enum", [_FILLERS.get(wanted.get("type"), "")])[0]
    return arguments


def _in_words(turn: Turn, conversation: str) -> str:
    if "keystrokes" in conversation:
        commands = [{"keystrokes": command + "\n", "duration": 0.5} for command in turn.shell]
        plan = {"analysis": turn.text, "plan": turn.text, "commands": commands, "task_complete": not commands}
        return json.dumps(plan, indent=2)
    fence = "mswea_bash_command" if "mswea_bash_command" in conversation else "bash"
    return "\n\n".join([*filter(None, [turn.text]), *(f"```{fence}\n{command}\n```" for command in turn.shell)])


def deltas(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A message as the deltas of a stream, in the sizes that real providers send."""
    yield {"role": "assistant", "content": ""}
    for name in ("reasoning_content", "content"):
        for piece in _pieces(message.get(name) or "", 16):
            yield {name: piece}
    for index, call in enumerate(message.get("tool_calls", ())):
        yield {"tool_calls": [{**call, "index": index, "function": {**call["function"], "arguments": ""}}]}
        for piece in _pieces(call["function"]["arguments"], 12):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _pieces(text: str, size: int) -> Iterator[str]:
    return (text[at : at + size] for at in range(0, len(text), size))
