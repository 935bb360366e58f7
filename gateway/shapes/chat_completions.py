"""OpenAI chat completions."""

from __future__ import annotations

import json
import re

import msgspec

from gateway.bodies import Body, Cache, Listing
from gateway.errors import GatewayError
from gateway.messages.chat_completions import read_message
from gateway.replies.chat_completions import read_reply
from gateway.types import Conversation

__all__ = ["NAME", "PATH", "calls_tools", "error_body", "error_event", "read", "read_reply"]

NAME = "chat_completions"
PATH = "/v1/chat/completions"

_LISTING = Listing(NAME, "messages", read_message)
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


def read(body: bytes, cache: Cache, before: Conversation | None = None) -> Conversation:
    """The conversation in a request body."""
    found = _LISTING.read(body, cache, before)
    return Conversation(
        model=found.model(),
        stream=found.raw("stream") == b"true",
        messages=found.messages,
        tools=_tools(found),
        whole=not _CUTS & found.fields.keys(),
        session=found.text("prompt_cache_key"),
        head=found.head,
    )


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


def _tools(body: Body) -> tuple[str, ...]:
    try:
        declared = _TOOLS.decode(body.raw("tools"))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ()
    return tuple(name for t in declared if (name := (t.function or t.custom or t).name))
