"""Anthropic Messages."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from gateway.bodies import Body, Cache, Listing
from gateway.errors import GatewayError
from gateway.messages.anthropic_messages import read_message
from gateway.replies.anthropic_messages import read_reply
from gateway.sse import Event, encode
from gateway.types import Conversation

__all__ = ["NAME", "PATH", "calls_tools", "error_body", "error_event", "read", "read_reply", "write_error"]

NAME = "anthropic_messages"
PATH = "/v1/messages"

_LISTING = Listing(NAME, "messages", read_message)
_HARMLESS = "clear_thinking_"
"""Edits of the history that leave every tool result in it."""
_CALLS = re.compile(rb'"type"\s*:\s*"tool_use"')
_SESSION = re.compile(r"_session_([\w-]{1,128})\Z")
_VERSION = re.compile(r"_\d{8}\Z")
_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    426: "invalid_request_error",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
"""What this API calls an error of a status; any other is `api_error`."""


class _Tool(msgspec.Struct):
    name: str = ""
    type: str = ""


class _Edit(msgspec.Struct):
    type: str


class _Management(msgspec.Struct, forbid_unknown_fields=True):
    edits: list[_Edit] = []


class _Metadata(msgspec.Struct):
    user_id: str = ""


class _User(msgspec.Struct):
    session_id: str = ""


_TOOLS = msgspec.json.Decoder(list[_Tool])
_MANAGEMENT = msgspec.json.Decoder(_Management | None)
_METADATA = msgspec.json.Decoder(_Metadata)
_USER = msgspec.json.Decoder(_User)


def read(body: bytes, cache: Cache, before: Conversation | None = None) -> Conversation:
    """The conversation in a request body."""
    found = _LISTING.read(body, cache, before)
    return Conversation(
        model=found.model(),
        stream=found.raw("stream") == b"true",
        messages=found.messages,
        tools=_tools(found),
        whole=_is_whole(found),
        session=_session(found),
        head=found.head,
        system=found.place("system"),
    )


def calls_tools(reply: bytes) -> bool:
    """Whether an answer, whole or streamed, asks for a tool; told by its bytes, without reading it."""
    return _CALLS.search(reply) is not None


def error_body(error: GatewayError) -> bytes:
    """``{"type": "error", "error": {type, message}}``."""
    return write_error(error.status, error.message)


def write_error(status: int, message: str) -> bytes:
    """An error of this status, whoever's it is."""
    return json.dumps(
        {"type": "error", "error": {"type": _ERRORS.get(status, "api_error"), "message": message}}
    ).encode()


def error_event(error: GatewayError) -> bytes:
    """The same as one server-sent event."""
    return encode(Event(error_body(error).decode(), "error"))


def _is_whole(body: Body) -> bool:
    """The provider is not asked to clear or compact what tools gave; an edit that nobody knows may be just that."""
    asked = body.raw("context_management")
    if not asked:
        return True
    managed = _decoded(_MANAGEMENT, asked, _Management([_Edit("unknown")]))
    return managed is None or all(edit.type.startswith(_HARMLESS) for edit in managed.edits)


def _session(body: Body) -> str | None:
    """The session in the user's id: a JSON object as text, or words with the session as the last."""
    user = _decoded(_METADATA, body.raw("metadata"), _Metadata()).user_id
    old = _SESSION.search(user)
    return old[1] if old else _decoded(_USER, user.encode(), _User()).session_id or None


def _tools(body: Body) -> tuple[str, ...]:
    declared: list[_Tool] = _decoded(_TOOLS, body.raw("tools"), [])
    return tuple(name for tool in declared if (name := tool.name or _VERSION.sub("", tool.type)))


def _decoded(decoder: msgspec.json.Decoder[Any], raw: bytes, otherwise: Any) -> Any:
    try:
        return decoder.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return otherwise
