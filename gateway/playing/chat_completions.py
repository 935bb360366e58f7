"""Chat completions, as a scripted model speaks them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import dropwhile
from typing import Any

from gateway.playing.commands import Tool, fill
from gateway.playing.saying import BORN, Asked, Items, Refused, Said, Usage, pieces, text_of
from gateway.scenario import Fault
from gateway.sse import Event


def read(request: Mapping[str, Any], _history: Items = ()) -> Asked:
    """What is asked: each message of the assistant is a turn."""
    messages: list[Mapping[str, Any]] = request["messages"]
    roles = [message.get("role") for message in messages]
    since = dropwhile(lambda message: message.get("role") != "assistant", messages)
    return Asked(
        request=request,
        answers=roles.count("assistant"),
        told=tuple(text_of(m.get("content")) for m in since if m.get("role") in ("tool", "function", "user")),
        tools=tuple(_tools(request.get("tools") or ())),
        words=json.dumps(messages),
        pieces=tuple(map(json.dumps, messages)),
    )


def _tools(declared: Sequence[Mapping[str, Any]]) -> Iterator[Tool]:
    for tool in declared:
        if isinstance(function := tool.get("function"), dict):
            yield Tool(name=function["name"], schema=function.get("parameters") or {})


def _message(said: Said) -> dict[str, Any]:
    """The assistant message."""
    message: dict[str, Any] = {"role": "assistant", "content": said.text or None}
    if said.reasoning:
        message["reasoning_content"] = said.reasoning
    if said.tool and said.commands:
        made = [{"name": said.tool.name, "arguments": json.dumps(fill(said.tool, c))} for c in said.commands]
        message["tool_calls"] = [
            {"id": f"call_{said.number}_{n}", "type": "function", "function": function}
            for n, function in enumerate(made)
        ]
    return message


def answer(said: Said, asked: Asked, usage: Usage, _serial: int) -> dict[str, Any]:
    """The whole completion."""
    message = _message(said)
    reason = "tool_calls" if message.get("tool_calls") else "stop"
    return {
        "id": f"chatcmpl-{said.number}",
        "object": "chat.completion",
        "created": BORN,
        "model": asked.request.get("model"),
        "system_fingerprint": None,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": reason}],
        "usage": {
            "prompt_tokens": usage.prompt,
            "completion_tokens": usage.answer,
            "total_tokens": usage.prompt + usage.answer,
            "prompt_tokens_details": {"cached_tokens": usage.cached},
            "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
        },
    }


def stream(whole: Mapping[str, Any], asked: Asked, fault: Fault) -> Iterator[Event]:
    """Chunks, and what stands at their end; usage only where the request asks for it."""
    head = {**whole, "object": "chat.completion.chunk"}
    usage = head.pop("usage")
    (choice,) = whole["choices"]

    def chunk(delta: Mapping[str, Any], reason: str | None = None) -> Event:
        choices = [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}]
        return Event(json.dumps({**head, "choices": choices}))

    yield from map(chunk, deltas(choice["message"]))
    if fault.error_event:
        yield Event(json.dumps({"error": {"message": fault.error_event, "type": "server_error"}}))
        return
    yield chunk({}, choice["finish_reason"])
    if (asked.request.get("stream_options") or {}).get("include_usage"):
        yield Event(json.dumps({**head, "choices": [], "usage": usage}))
    if not fault.no_done:
        yield Event("[DONE]")


def deltas(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A message as the deltas of a stream."""
    yield {"role": "assistant", "content": ""}
    for name in ("reasoning_content", "content"):
        for piece in pieces(message.get(name) or "", 16):
            yield {name: piece}
    for index, call in enumerate(message.get("tool_calls", ())):
        yield {"tool_calls": [{**call, "index": index, "function": {**call["function"], "arguments": ""}}]}
        for piece in pieces(call["function"]["arguments"], 12):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def error(refused: Refused) -> dict[str, Any]:
    """An error's body."""
    code = refused.code or refused.status
    return {"error": {"message": refused.message, "type": "scripted", "param": refused.param, "code": code}}
