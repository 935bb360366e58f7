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


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a call."""

    id: str
    """Of the call."""
    output: object
    failed: bool
    """The item itself says that it failed; the text may say so, too."""


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


def result(item: Mapping[str, Any]) -> Result | None:
    """What came of a call, if an item is that; both streams of what a shell printed are parts."""
    kind, error = str(item.get("type", "")), item.get("error")
    output = error if item.get("output") is None else item["output"]
    if not (kind.endswith("_call_output") or (kind == "mcp_call" and output is not None)):
        return None
    parts = [part for part in output if isinstance(part, dict)] if isinstance(output, list) else []
    printed = [part for part in parts if "stdout" in part or "stderr" in part]
    if printed:
        output = [{"text": part[name]} for part in printed for name in ("stdout", "stderr") if part.get(name)]
    return Result(
        id=str(item.get("call_id") or item.get("id") or ""),
        output=output,
        failed=error is not None or item.get("status") == "failed" or any(map(_is_failure, printed)),
    )


def _is_failure(part: Mapping[str, Any]) -> bool:
    """A command of a shell that did not end, or not well."""
    outcome = part.get("outcome")
    if not isinstance(outcome, dict):
        return False
    return outcome.get("type") == "timeout" or outcome.get("exit_code") not in (None, 0)
