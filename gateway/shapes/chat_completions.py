"""OpenAI chat completions."""

from __future__ import annotations

import json

import msgspec

from gateway.cache import BoundedCache
from gateway.chat_message import read_message, text_of
from gateway.errors import BadRequest, GatewayError
from gateway.replies import read_reply
from gateway.spans import MalformedJSON, Member, elements, members
from gateway.types import Conversation, Message, Placed

__all__ = ["NAME", "PATH", "error_body", "error_event", "read", "read_reply"]

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


_TOOLS = msgspec.json.Decoder(list[_Tool])


def read(body: bytes, cache: BoundedCache[bytes, Message]) -> Conversation:
    """The conversation in a request body; messages seen before come from `cache` by the digest of their bytes."""
    try:
        return _read(body, cache)
    except MalformedJSON as error:
        raise BadRequest(f"the body is not a JSON object: {error}") from error


def _read(body: bytes, cache: BoundedCache[bytes, Message]) -> Conversation:
    top = {m.key: m for m in members(body, 0, len(body))[0]}
    listed = top.get("messages")
    if listed is None or body[listed.start : listed.start + 1] != b"[":
        raise BadRequest("'messages' is missing or not a list: send a list of messages", param="messages")
    spans = elements(body, listed.start, listed.end)
    if not spans:
        raise BadRequest("'messages' is empty: send at least one message", param="messages")
    return Conversation(
        model=_model(body, top),
        stream=(m := top.get("stream")) is not None and body[m.start : m.end] == b"true",
        messages=tuple(_place(body, start, end, k, cache) for k, (start, end) in enumerate(spans)),
        tools=_tools(body, top),
        whole=not _CUTS & top.keys(),
        session=text_of(body, top.get("prompt_cache_key")),
        head=(listed.start, listed.end),
    )


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


def _place(body: bytes, start: int, end: int, index: int, cache: BoundedCache[bytes, Message]) -> Placed:
    if body[start : start + 1] != b"{":
        raise BadRequest(f"'messages[{index}]' is not an object", param=f"messages[{index}]")
    raw = body[start:end]
    message = cache.get(raw)
    if message is None:
        message = read_message(raw, index)
        cache.put(raw, message, 2 * len(raw) + 1000)
    return Placed(message=message, start=start, end=end)
