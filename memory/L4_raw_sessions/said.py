"""What a message says, whatever form of the API it is written in: who speaks, and the words without the JSON around them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Role = Literal["system", "user", "assistant", "tool"]

ROLES: tuple[Role, ...] = ("system", "user", "assistant", "tool")

_BY_ROLE: dict[object, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
_MADE = frozenset({"reasoning", "mcp_list_tools", "mcp_approval_request", "compaction", "program"})
"""Types of items of the Responses form that the model made; those of calls and results say so at their end."""

_TEXTS = (
    "reasoning_content",
    "thinking",
    "summary",
    "content",
    "text",
    "refusal",
    "name",
    "arguments",
    "input",
    "action",
    "operation",
    "code",
    "output",
    "stdout",
    "stderr",
    "error",
)
"""Members that hold words, in the order in which they are read."""

_NESTED = ("function", "tool_calls", "function_call")


@dataclass(frozen=True, slots=True)
class Said:
    """One message as words."""

    role: Role
    text: str


def said(data: bytes) -> Said:
    """The words of a message. What is no message of a known form is taken for words of the user."""
    try:
        message = json.loads(data)
    except ValueError:
        return Said("user", data.decode("utf-8", "replace"))
    return said_in(message)


def said_in(message: object) -> Said:
    """The words of a message that is parsed already."""
    if not isinstance(message, Mapping):
        return Said("user", message if isinstance(message, str) else json.dumps(message, ensure_ascii=False))
    return Said(_role(message), "\n".join(_texts(message)))


def _role(message: Mapping[str, Any]) -> Role:
    kind = str(message.get("type", ""))
    if kind.endswith("_output") or (kind == "mcp_call" and (message.get("output") or message.get("error"))):
        return "tool"
    if kind in _MADE or kind.endswith("_call"):
        return "assistant"
    content = message.get("content")
    if isinstance(content, list) and any(isinstance(p, Mapping) and p.get("type") == "tool_result" for p in content):
        return "tool"
    return _BY_ROLE.get(message.get("role"), "user")


def _texts(value: object) -> Iterator[str]:
    """Strings and numbers under the members that hold words, at any depth; pictures and files have none of them."""
    if isinstance(value, str):
        if value and not value.startswith("data:"):
            yield value
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)
    elif isinstance(value, Mapping):
        for name in _TEXTS:
            yield from _words(name, value.get(name))
        for name in _NESTED:
            yield from _texts(value.get(name))


def _words(name: str, value: object) -> Iterator[str]:
    if name in ("arguments", "input", "action", "operation") and not isinstance(value, str | None):
        yield json.dumps(value, ensure_ascii=False)
    elif name != "name" or isinstance(value, str):
        yield from _texts(value)
