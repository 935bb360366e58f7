"""Anthropic Messages, as a scripted model speaks them."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import chain, dropwhile
from typing import Any

from gateway.playing.commands import COMMAND, Tool, fill
from gateway.playing.saying import Asked, Items, Refused, Said, Usage, pieces, text_of
from gateway.scenario import Fault
from gateway.sse import Event

_ERRORS: Mapping[int, str] = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_MARK = "cache_control"


def read(request: Mapping[str, Any], _history: Items = ()) -> Asked:
    """What is asked: each message of the assistant is a turn."""
    messages: list[Mapping[str, Any]] = request["messages"]
    since = list(dropwhile(lambda message: message["role"] != "assistant", messages))
    parts = [*(request.get("tools") or ()), *_blocks(request.get("system") or ()), *messages]
    marked = [place for place, part in enumerate(parts, 1) if _MARK in json.dumps(part)]
    return Asked(
        request=request,
        answers=sum(message["role"] == "assistant" for message in messages),
        told=tuple(chain.from_iterable(_told(m["content"]) for m in since if m["role"] == "user")),
        tools=tuple(_tools(request.get("tools") or ())),
        pieces=tuple(json.dumps(_unmarked(part)) for part in parts),
        cacheable=len(parts) if request.get(_MARK) else max(marked, default=0),
    )


def _blocks(content: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _told(content: Any) -> Iterator[str]:
    return (text_of(block.get("content", block)) for block in _blocks(content))


def _unmarked(part: Any) -> Any:
    """Without what the cache does not see: marks, and whether a text is a string or a block."""
    if isinstance(part, dict):
        kept = {key: _unmarked(value) for key, value in part.items() if key != _MARK}
        return kept | {"content": _blocks(kept["content"])} if isinstance(kept.get("content"), str) else kept
    return list(map(_unmarked, part)) if isinstance(part, list) else part


def _tools(declared: Sequence[Mapping[str, Any]]) -> Iterator[Tool]:
    for tool in declared:
        known = str(tool.get("type", "")).startswith("bash_")
        yield Tool(name=tool["name"], schema=COMMAND if known else tool.get("input_schema") or {})


def answer(said: Said, asked: Asked, usage: Usage, serial: int) -> dict[str, Any]:
    """The whole message."""
    calls = said.commands if said.tool else ()
    return {
        "id": f"msg_{serial}",
        "type": "message",
        "role": "assistant",
        "model": asked.request.get("model"),
        "content": list(_content(said)),
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": usage.prompt - usage.cached - usage.written,
            "cache_creation_input_tokens": usage.written,
            "cache_read_input_tokens": usage.cached,
            "output_tokens": usage.answer,
        },
    }


def _content(said: Said) -> Iterator[dict[str, Any]]:
    if said.reasoning:
        signature = b64encode(blake2b(said.reasoning.encode(), digest_size=33).digest()).decode()
        yield {"type": "thinking", "thinking": said.reasoning, "signature": signature}
    if said.text:
        yield {"type": "text", "text": said.text}
    for n, command in enumerate(said.commands):
        if said.tool:
            name, given = said.tool.name, fill(said.tool, command)
            yield {"type": "tool_use", "id": f"toolu_{said.number}_{n}", "name": name, "input": given}


def stream(whole: Mapping[str, Any], _asked: Asked, fault: Fault) -> Iterator[Event]:
    """The message, block by block; a ping after its head."""
    ending = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    head = {**whole, "content": [], "stop_reason": None, "usage": {**whole["usage"], "output_tokens": 1}}
    yield _event("message_start", message=head)
    yield _event("ping")
    for index, block in enumerate(whole["content"]):
        yield from _stream_block(index, block)
    if fault.error_event:
        yield _event("error", error={"type": "overloaded_error", "message": fault.error_event})
        return
    yield _event("message_delta", delta=ending, usage=whole["usage"])
    yield _event("message_stop")


def _stream_block(index: int, block: Mapping[str, Any]) -> Iterator[Event]:
    match block["type"]:
        case "thinking":
            empty: dict[str, object] = {"thinking": "", "signature": ""}
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces(block["thinking"], 16)]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        case "text":
            empty = {"text": ""}
            deltas = [{"type": "text_delta", "text": piece} for piece in pieces(block["text"], 16)]
        case _:
            empty = {"input": {}}
            given = ["", *pieces(json.dumps(block["input"]), 12)]
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in given]
    yield _event("content_block_start", index=index, content_block={**block, **empty})
    for delta in deltas:
        yield _event("content_block_delta", index=index, delta=delta)
    yield _event("content_block_stop", index=index)


def _event(kind: str, **fields: object) -> Event:
    return Event(json.dumps({"type": kind, **fields}), kind)


def error(refused: Refused) -> dict[str, Any]:
    """An error's body."""
    kind = _ERRORS.get(refused.status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": refused.message}}
