"""OpenAI Responses."""

from __future__ import annotations

import json
import re

import msgspec

from gateway.bodies import Body, Cache, Listing
from gateway.errors import GatewayError
from gateway.messages.responses import read_message
from gateway.replies.responses import read_reply
from gateway.shapes.chat_completions import error_body
from gateway.sse import Event, encode
from gateway.types import Conversation

__all__ = ["NAME", "PATH", "calls_tools", "error_body", "error_event", "read", "read_reply"]

NAME = "responses"
PATH = "/v1/responses"

_ELSEWHERE = frozenset({"previous_response_id", "conversation", "prompt", "generate"})
"""Fields that name what the provider has (items, or a prompt with its model), or that no answer is asked for."""
_LISTING = Listing(NAME, "input", read_message, single=True, instead=_ELSEWHERE)
_CALLS = re.compile(
    rb'"type"\s*:\s*"(?:function_call|custom_tool_call|local_shell_call|shell_call|apply_patch_call|computer_call)"'
)


class _Tool(msgspec.Struct):
    name: str = ""
    type: str = ""


class _Named(msgspec.Struct):
    id: str = ""


_TOOLS = msgspec.json.Decoder(list[_Tool])
_CONVERSATION = msgspec.json.Decoder(str | _Named)


def read(body: bytes, cache: Cache, before: Conversation | None = None) -> Conversation:
    """The conversation in a request body."""
    found = _LISTING.read(body, cache, before)
    previous = found.text("previous_response_id") or _conversation(found)
    return Conversation(
        model=found.text("model") or "" if found.raw("prompt") else found.model(),
        stream=found.raw("stream") == b"true",
        messages=found.messages,
        tools=_tools(found),
        whole=not previous and not _may_cut(found),
        session=found.text("prompt_cache_key"),
        previous=previous,
        silent=found.raw("generate") == b"false",
        kept=found.raw("store") != b"false" or found.text("type") == "response.create",
        head=found.head,
    )


def calls_tools(reply: bytes) -> bool:
    """Whether an answer, whole or streamed, asks for a tool; told by its bytes, without reading it."""
    return _CALLS.search(reply) is not None


def error_event(error: GatewayError) -> bytes:
    """``{type: error, code, message, param, sequence_number}`` as one server-sent event."""
    detail = {"type": "error", "code": error.code or error.type, "message": error.message, "param": error.param}
    return encode(Event(json.dumps({**detail, "sequence_number": 0}), "error"))


def _may_cut(body: Body) -> bool:
    """The client lets the provider drop parts of the history."""
    return body.text("truncation") == "auto" or body.raw("context_management") not in (b"", b"null", b"[]")


def _conversation(body: Body) -> str | None:
    """The conversation that the provider keeps: by its name, or as an object with that."""
    try:
        named = _CONVERSATION.decode(body.raw("conversation"))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return (named if isinstance(named, str) else named.id) or None


def _tools(body: Body) -> tuple[str, ...]:
    try:
        declared = _TOOLS.decode(body.raw("tools"))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ()
    return tuple(name for tool in declared if (name := tool.name or tool.type))
