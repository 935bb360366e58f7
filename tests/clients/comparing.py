"""What an agent sent beside what arrived: where a difference may be, and where there is one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')


def chat_results(body: Mapping[str, Any]) -> list[str]:
    """Texts of tool messages, and of user messages after the first answer, in chat completions."""
    out: list[str] = []
    answered = False
    for message in body.get("messages", ()):
        answered = answered or message.get("role") == "assistant"
        if message.get("role") == "tool" or (answered and message.get("role") == "user"):
            out += _texts(message.get("content"))
    return out


def responses_results(body: Mapping[str, Any]) -> list[str]:
    """Texts of output items in Responses."""
    items = body.get("input")
    return [
        text
        for item in (items if isinstance(items, list) else ())
        if str(item.get("type", "")).endswith("_call_output")
        for text in _texts(item.get("output"))
    ]


def messages_results(body: Mapping[str, Any]) -> list[str]:
    """Texts of `tool_result` blocks in Anthropic's Messages."""
    blocks = [
        block
        for message in body.get("messages", ())
        if message.get("role") == "user" and isinstance(message.get("content"), list)
        for block in message["content"]
    ]
    return [text for block in blocks if block.get("type") == "tool_result" for text in _texts(block.get("content"))]


def _texts(content: object) -> list[str]:
    if isinstance(content, str):
        return [content]
    parts = content if isinstance(content, Sequence) else ()
    return [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]


Results = Callable[[Mapping[str, Any]], list[str]]
RESULTS: Mapping[str, Results] = {
    "/v1/chat/completions": chat_results,
    "/v1/responses": responses_results,
    "/v1/messages": messages_results,
}
"""By path: the places where tool results stand. Nothing else in a body may be changed."""


def changed(sent: bytes, got: bytes, results: Results) -> list[tuple[str, str]]:
    """Results that arrived otherwise, before and after; fails where anything else differs by a byte."""
    if sent == got:
        return []
    assert STRING.split(sent) == STRING.split(got)
    found = [
        (json.loads(before), json.loads(after))
        for before, after in zip(STRING.findall(sent), STRING.findall(got), strict=True)
        if before != after
    ]
    pairs = [pair for pair in _paired(json.loads(sent), json.loads(got), results) if pair[0] != pair[1]]
    assert found == pairs
    return found


def _paired(sent: Mapping[str, Any], got: Mapping[str, Any], results: Results) -> Iterator[tuple[str, str]]:
    return zip(results(sent), results(got), strict=True)
