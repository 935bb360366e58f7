"""OpenAI chat completions."""

from __future__ import annotations

import json
import re

import msgspec

from gateway.cache import BoundedCache
from gateway.chat_message import read_message, text_of
from gateway.errors import BadRequest, GatewayError
from gateway.replies import read_reply
from gateway.spans import MalformedJSON, Member, elements, members
from gateway.types import Conversation, Message, Placed

__all__ = ["NAME", "PATH", "calls_tools", "error_body", "error_event", "read", "read_reply"]

NAME = "chat_completions"
PATH = "/v1/chat/completions"
_CUTS = {"transforms", "truncation", "context_management"}
"""Fields by which a client lets the provider drop parts of the history."""


class _Named(msgspec.Struct):
    name: str = ""


class _Tool(msgspec.Struct):
    name: str = ""
    function: _Named | None = None
    custom: _Named | None = None


_CALLS = re.compile(rb'"tool_calls"\s*:\s*\[\s*\{|"function_call"\s*:\s*\{')
_TOOLS = msgspec.json.Decoder(list[_Tool])


def read(body: bytes, cache: BoundedCache[bytes, Message], before: Conversation | None = None) -> Conversation:
    """The conversation in a request body; messages seen before come from `before`, or from `cache` by their bytes."""
    try:
        return _read(body, cache, before)
    except MalformedJSON as error:
        if before:
            return read(body, cache)  # its words count bytes from the beginning
        raise BadRequest(f"the body is not a JSON object: {error}") from error


def _read(body: bytes, cache: BoundedCache[bytes, Message], before: Conversation | None) -> Conversation:
    rest, gap = _without(body, before)
    top = {m.key: m for m in members(rest, 0, len(rest))[0]}
    listed = top.get("messages")
    if before and (listed is None or listed.start != before.head[0]):
        return _read(body, cache, None)  # the key occurs twice, and the last one counts
    if listed is None or rest[listed.start : listed.start + 1] != b"[":
        raise BadRequest("'messages' is missing or not a list: send a list of messages", param="messages")
    known = before.messages if before else ()
    spans = elements(rest, listed.start, listed.end)[bool(known) :]
    if not spans and not known:
        raise BadRequest("'messages' is empty: send at least one message", param="messages")
    return Conversation(
        model=_model(rest, top),
        stream=(m := top.get("stream")) is not None and rest[m.start : m.end] == b"true",
        messages=known + tuple(_place(rest, *span, gap, k, cache) for k, span in enumerate(spans, len(known))),
        tools=_tools(rest, top),
        whole=not _CUTS & top.keys(),
        session=text_of(rest, top.get("prompt_cache_key")),
        head=(listed.start, listed.end + gap),
    )


def _without(body: bytes, before: Conversation | None) -> tuple[bytes, int]:
    """The body with a 0 in the place of the messages that it shares with `before`, and by how much that is shorter."""
    if before is None:
        return body, 0
    start, end = before.head[0] + 1, before.messages[-1].end
    return b"".join((body[:start], b"0", body[end:])), end - start - 1


def calls_tools(reply: bytes) -> bool:
    """Whether an answer, whole or streamed, asks for a tool; told by its bytes, without reading it."""
    return _CALLS.search(reply) is not None


def error_body(error: GatewayError) -> bytes:
    """``{"error": {message, type, param, code}}``."""
    detail = {"message": error.message, "type": error.type, "param": error.param, "code": error.code}
    return json.dumps({"error": detail}).encode()


def error_event(error: GatewayError) -> bytes:
    """The same as one server-sent event."""
    return b"data: " + error_body(error) + b"\n\n"


def _model(body: bytes, top: dict[str, Member]) -> str:
    model = text_of(body, top.get("model"))
    if not model:
        raise BadRequest("'model' is missing: name the model as a string", param="model")
    return model


def _tools(body: bytes, top: dict[str, Member]) -> tuple[str, ...]:
    member = top.get("tools")
    if member is None or body[member.start : member.start + 1] != b"[":
        return ()
    try:
        declared = _TOOLS.decode(memoryview(body)[member.start : member.end])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ()
    return tuple(name for t in declared if (name := (t.function or t.custom or t).name))


def _place(body: bytes, start: int, end: int, gap: int, index: int, cache: BoundedCache[bytes, Message]) -> Placed:
    if body[start : start + 1] != b"{":
        raise BadRequest(f"'messages[{index}]' is not an object", param=f"messages[{index}]")
    raw = body[start:end]
    message = cache.get(raw)
    if message is None:
        message = read_message(raw, index)
        cache.put(raw, message, 2 * len(raw) + 1000)
    return Placed(message=message, start=start + gap, end=end + gap)
