"""Messages of any form as those of the chat completions API, whose clients are everywhere."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from memory.L4_raw_sessions.items import called, items, result

Message = dict[str, Any]

_PARTS = {"input_text": "text", "output_text": "text"}
_THOUGHTS = frozenset({"thinking", "redacted_thinking"})
"""Blocks that are for the provider only which made them."""
_BLOCKS = frozenset({"tool_use", "tool_result", *_THOUGHTS})
"""What tells the Messages form."""


def opening(head: bytes) -> list[Message]:
    """The system's words, where a request has them beside its messages."""
    try:
        fields = json.loads(head)
    except ValueError:
        return []
    told = (fields.get("system") or fields.get("instructions")) if isinstance(fields, dict) else None
    return [{"role": "system", "content": _plain(told)}] if isinstance(told, str | list) else []


def as_chat(messages: Iterable[object]) -> list[Message]:
    """The same conversation; messages that have that form already stay as they are."""
    out: list[Message] = []
    for message in messages:
        told = items(message) if isinstance(message, dict) else ()
        for one in (one for item in told if isinstance(item, dict) for one in _chat(item)):
            if _continues(out, one):
                out[-1]["tool_calls"] = [*out[-1].get("tool_calls", []), *one["tool_calls"]]
            else:
                out.append(one)
    return out


def _continues(out: list[Message], one: Message) -> bool:
    """Whether it is another call of the same turn, in a form that has an item for each."""
    return (
        bool(out) and out[-1]["role"] == "assistant" and one["role"] == "assistant" and one.get("content", "") is None
    )


def _chat(message: Message) -> Iterator[Message]:
    kind, content = message.get("type"), message.get("content")
    call, answered = called(message), result(message)
    if call:
        yield _calling([(call.id, call.name, call.arguments)])
    if answered:
        yield {"role": "tool", "tool_call_id": answered.id, "content": _plain(answered.output)}
    if call or answered:
        return
    if isinstance(content, list) and any(_kind(part) in _BLOCKS for part in content):
        yield from _blocks(message, content)
    elif "role" in message:
        told = {name: value for name, value in message.items() if name != "type" or kind != "message"}
        yield told | ({"content": [_part(part) for part in content]} if isinstance(content, list) else {})


def _blocks(message: Message, content: list[Any]) -> Iterator[Message]:
    for part in content:
        if _kind(part) == "tool_result":
            yield {"role": "tool", "tool_call_id": part.get("tool_use_id"), "content": _plain(part.get("content"))}
    said = [_part(part) for part in content if _kind(part) not in _BLOCKS]
    calls = [part for part in content if _kind(part) == "tool_use"]
    if calls:
        called = [(part.get("id"), part.get("name"), json.dumps(part.get("input"))) for part in calls]
        yield _calling(called) | {"content": _plain(said) or None}
    elif said:
        yield {"role": message.get("role", "user"), "content": said}


def _calling(calls: Iterable[tuple[object, object, object]]) -> Message:
    told = [{"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in calls]
    return {"role": "assistant", "content": None, "tool_calls": told}


def _kind(part: object) -> object:
    return part.get("type") if isinstance(part, Mapping) else None


def _part(part: object) -> object:
    if not isinstance(part, Mapping):
        return part
    match part:
        case {"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}}:
            return {"type": "image_url", "image_url": {"url": f"data:{kind};base64,{data}"}}
        case {"type": "image", "source": {"type": "url", "url": url}}:
            return {"type": "image_url", "image_url": {"url": url}}
    told = {name: value for name, value in part.items() if name != "cache_control"}
    return {**told, "type": _PARTS.get(str(part.get("type")), part.get("type"))}


def _plain(content: object) -> str:
    if isinstance(content, str) or content is None:
        return content or ""
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text") if isinstance(part, Mapping) else part for part in parts]
    return "\n".join(
        text if isinstance(text, str) else json.dumps(part) for text, part in zip(texts, parts, strict=True)
    )
