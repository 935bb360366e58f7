"""Items of the Responses form: an answer is a message that holds several, each call and each result is one of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_CALLS = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "mcp_call": "arguments",
    "local_shell_call": "action",
    "shell_call": "action",
    "apply_patch_call": "operation",
}
"""Where each kind of call says what to do."""


@dataclass(frozen=True, slots=True)
class Called:
    """A call of a tool."""

    id: str
    name: str
    arguments: str


def items(message: Mapping[str, Any]) -> Sequence[Any]:
    """The items that an answer is made of; any other message is one itself."""
    output = message.get("output")
    return output if message.get("type") == "response" and isinstance(output, list) else (message,)


def called(item: Mapping[str, Any]) -> Called | None:
    """The call that an item is, if it is one."""
    kind = str(item.get("type", ""))
    if kind not in _CALLS:
        return None
    asked = item.get(_CALLS[kind], "")
    return Called(
        id=str(item.get("call_id") or item.get("id") or ""),
        name=str(item.get("name") or kind.removesuffix("_call")),
        arguments=asked if isinstance(asked, str) else json.dumps(asked),
    )


def result(item: Mapping[str, Any]) -> tuple[str, object] | None:
    """(id of its call, what came of it), if an item is a result; both streams of what a shell printed are parts."""
    kind = str(item.get("type", ""))
    if not (kind.endswith("_call_output") or (kind == "mcp_call" and item.get("output") is not None)):
        return None
    output = item.get("output")
    parts = output if isinstance(output, list) else []
    if any(isinstance(part, dict) and "stdout" in part for part in parts):
        output = [{"text": part.get(name)} for part in parts for name in ("stdout", "stderr") if part.get(name)]
    return str(item.get("call_id") or item.get("id") or ""), output
