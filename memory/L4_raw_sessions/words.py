"""What was said in a message, in words, whatever API's form it has."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from memory.L4_raw_sessions.items import called, items, result

Speaker = Literal["USER", "Agent", "Tool", "System"]

_FAILED = re.compile(
    r"\s*(?:error\b|fatal:)|Traceback \(most recent call last\)|(?:exit code|exited with|returncode>)\D{0,12}[1-9]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Said:
    """One thing that was said."""

    speaker: Speaker
    text: str
    tools: tuple[tuple[str, str], ...] = ()
    """(call id, name) of the tools that an agent calls; of a result its own call id, and no name."""

    error: bool = False
    """A tool's result that is marked as one."""

    @property
    def failed(self) -> bool:
        """A tool's result that is marked as an error, or speaks of one."""
        return self.error or (self.speaker == "Tool" and _FAILED.search(self.text[:20_000]) is not None)


def read_message(raw: bytes) -> list[Said]:
    """What a message says, given as JSON; nothing where it is no message."""
    try:
        message = json.loads(raw)
    except ValueError:
        return []
    return list(read_parsed(message)) if isinstance(message, dict) else []


def read_parsed(message: Mapping[str, Any]) -> Iterator[Said]:
    """The same of a message that was parsed."""
    for item in items(message):
        if isinstance(item, dict):
            yield from _read(item)


def _read(message: Mapping[str, Any]) -> Iterator[Said]:
    role, call, answered = message.get("role"), called(message), result(message)
    if call:
        yield Said("Agent", "", ((call.id, call.name),))
    if answered:
        yield Said("Tool", text_of(answered.output), ((answered.id, ""),), answered.failed)
    if call or answered:
        return
    if role == "tool":
        yield Said("Tool", text_of(message.get("content")), ((str(message.get("tool_call_id") or ""), ""),))
        return
    parts = message.get("content")
    blocks = [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    for block in blocks:
        if block.get("type") == "tool_result":
            call_id, failed = str(block.get("tool_use_id", "")), block.get("is_error") is True
            yield Said("Tool", text_of(block.get("content")), ((call_id, ""),), failed)
    text, tools = text_of(parts), tuple(_calls(message, blocks))
    if text or tools:
        yield Said(_speaker(role), text, tools)


def _speaker(role: object) -> Speaker:
    if role == "assistant":
        return "Agent"
    return "System" if role in ("system", "developer") else "USER"


def _calls(message: Mapping[str, Any], blocks: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict) and isinstance(call.get("function"), dict):
            yield str(call.get("id")), str(call["function"].get("name"))
    for block in blocks:
        if block.get("type") == "tool_use":
            yield str(block.get("id")), str(block.get("name"))


def text_of(content: object) -> str:
    """The text of a content, be it a string or a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return "\n".join(text for text in texts if isinstance(text, str))
