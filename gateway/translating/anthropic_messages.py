"""Anthropic Messages: asked as a chat completion, and a chat completion told as its answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from gateway.errors import UpstreamBroke
from gateway.shapes.anthropic_messages import PATH, write_error
from gateway.sse import Event, encode
from gateway.translating.anthropic_request import ask

__all__ = ["PATH", "Answering", "ask", "refuse", "start", "write"]

_REASONS: Mapping[str, str] = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "length": "max_tokens",
    "content_filter": "refusal",
}


def write(completion: Mapping[str, Any]) -> bytes:
    """A message with the blocks that the completion's makes. Raises `UpstreamBroke` where a call makes no sense."""
    choice = next(iter(completion.get("choices") or ()), None)
    if choice is None:
        raise UpstreamBroke("the provider answered without a choice")
    said, reason = choice.get("message") or {}, _reason(choice.get("finish_reason"), choice.get("message") or {})
    blocks = list(_blocks(said, cut=reason == "max_tokens"))
    told = {**_head(completion), "content": blocks, "stop_reason": reason, "stop_sequence": None}
    return json.dumps({**told, "usage": _usage(completion.get("usage"))}).encode()


def start() -> Answering:
    """Begin with nothing."""
    return Answering()


def refuse(status: int, detail: Mapping[str, Any]) -> bytes:
    """``{"type": "error", "error": {type, message}}``, with the type of this API for the status."""
    return write_error(status, str(detail.get("message")))


@dataclass(slots=True)
class Answering:
    """The events of a message, from the chunks of a completion."""

    begun: bool = False
    kind: str = ""
    """Of the block under way, where it is no call."""
    blocks: int = 0
    calls: dict[int, _Call] = field(default_factory=dict)
    """By the provider's number of each, the latest that has it."""
    open: list[int] = field(default_factory=list)
    """Blocks that have not ended."""
    reason: str | None = None
    usage: Mapping[str, Any] | None = None

    def feed(self, chunk: Mapping[str, Any]) -> bytes:
        """What a chunk adds."""
        return b"".join(_event(event) for event in self._events(chunk))

    def end(self) -> bytes:
        """The ends of the blocks, the reason with the usage, the end. Raises `UpstreamBroke` without a reason."""
        if self.reason is None:
            raise UpstreamBroke("the provider's stream ended without saying why")
        reason = _reason(self.reason, {"tool_calls": self.calls})
        ended = {"stop_reason": reason, "stop_sequence": None}
        told = [*self._stop(), {"type": "message_delta", "delta": ended, "usage": _usage(self.usage)}]
        return b"".join(_event(event) for event in [*told, {"type": "message_stop"}])

    def _events(self, chunk: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        self.usage = chunk.get("usage") or self.usage
        if not self.begun:
            self.begun = True
            head = {**_head(chunk), "content": [], "stop_reason": None, "stop_sequence": None}
            yield {"type": "message_start", "message": {**head, "usage": _usage(None)}}
        for choice in chunk.get("choices") or ():
            delta = choice.get("delta") or {}
            if thought := _thought(delta):
                yield from self._say("thinking", thought)
            if delta.get("content"):
                yield from self._say("text", delta["content"])
            for call in delta.get("tool_calls") or ():
                yield from self._call(call)
            self.reason = choice.get("finish_reason") or self.reason

    def _say(self, kind: str, words: str) -> Iterator[dict[str, Any]]:
        if self.kind != kind:
            yield from self._stop()
            yield self._start(_EMPTY[kind])
            self.kind = kind
        yield _delta(self.open[-1], {"type": f"{kind}_delta", kind: words})

    def _call(self, piece: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        function = piece.get("function") or {}
        number, name, identity = piece.get("index") or 0, function.get("name"), piece.get("id")
        call = self.calls.get(number)
        # some providers give all calls of a turn one number
        if call is None or (name and identity and identity != call.id):
            if self.kind:
                yield from self._stop()
            call = self.calls[number] = _Call(self.blocks, identity or f"call_{uuid4().hex[:12]}")
            yield self._start({"type": "tool_use", "id": call.id, "name": name or "", "input": {}})
        if function.get("arguments"):
            yield _delta(call.block, {"type": "input_json_delta", "partial_json": function["arguments"]})

    def _start(self, block: Mapping[str, Any]) -> dict[str, Any]:
        self.open.append(self.blocks)
        self.blocks += 1
        return {"type": "content_block_start", "index": self.open[-1], "content_block": block}

    def _stop(self) -> Iterator[dict[str, Any]]:
        for index in self.open:
            yield {"type": "content_block_stop", "index": index}
        self.open, self.kind = [], ""


@dataclass(frozen=True, slots=True)
class _Call:
    block: int
    id: str


_EMPTY: Mapping[str, Mapping[str, Any]] = {
    "text": {"type": "text", "text": ""},
    "thinking": {"type": "thinking", "thinking": "", "signature": ""},
}


def _blocks(said: Mapping[str, Any], *, cut: bool) -> Iterator[dict[str, Any]]:
    if thought := _thought(said):
        yield {**_EMPTY["thinking"], "thinking": thought}
    if said.get("content"):
        yield {**_EMPTY["text"], "text": said["content"]}
    for call in said.get("tool_calls") or ():
        function = call.get("function") or {}
        given = _input(function.get("arguments") or "{}", str(function.get("name")), cut=cut)
        yield {"type": "tool_use", "id": call.get("id"), "name": function.get("name"), "input": given}


def _input(arguments: str, tool: str, *, cut: bool) -> dict[str, Any]:
    """What a tool is called with: an object, but where the answer was cut off in it."""
    try:
        given = json.loads(arguments)
    except ValueError:
        given = None
    if not isinstance(given, dict) and not cut:
        raise UpstreamBroke(f"the model called '{tool}' with arguments that are no JSON object")
    return given if isinstance(given, dict) else {}


def _thought(said: Mapping[str, Any]) -> str | None:
    thought = said.get("reasoning_content") or said.get("reasoning")
    return thought if isinstance(thought, str) else None


def _reason(finish: object, said: Mapping[str, Any]) -> str:
    """Why it ends. A turn that calls tools is said by some to just stop."""
    if finish in ("stop", None) and said.get("tool_calls"):
        return "tool_use"
    return _REASONS.get(str(finish), "end_turn")


def _head(completion: Mapping[str, Any]) -> dict[str, Any]:
    identity = str(completion.get("id") or uuid4().hex)
    return {"id": f"msg_{identity}", "type": "message", "role": "assistant", "model": completion.get("model")}


def _usage(usage: Mapping[str, Any] | None) -> dict[str, int]:
    """As this API counts: what was read from a cache stands beside the input."""
    told = usage or {}
    cached = (told.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
    beside = {"cache_read_input_tokens": cached} if cached else {}
    return {
        "input_tokens": (told.get("prompt_tokens") or 0) - cached,
        **beside,
        "output_tokens": told.get("completion_tokens") or 0,
    }


def _delta(index: int, delta: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def _event(event: Mapping[str, Any]) -> bytes:
    return encode(Event(json.dumps(event), str(event["type"])))
