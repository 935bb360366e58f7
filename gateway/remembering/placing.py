"""Where a session's text goes in a request: to the end of the client's own system text; every other byte stays."""

from __future__ import annotations

from gateway.spans import elements, encode_string, members
from gateway.types import Conversation

OPEN, CLOSE = "<taco-memory>", "</taco-memory>"
"""What is put in stands between these."""

_SYSTEM = ("system", "developer")
_TEXTS = ('"text"', '"input_text"')


def inject(body: bytes, conversation: Conversation, frozen: str) -> bytes:
    """The body with `frozen` at the end of the client's own system text; every other byte as it is.

    The same body where there is no such text, or where something was put in before.
    """
    span = _span(body, conversation) if frozen else None
    end = _end_of_text(body, *span) if span else None
    if span is None or end is None or body.find(OPEN.encode(), span[0] if conversation.system else 0, span[1]) >= 0:
        return body
    return b"".join((body[:end], encode_string(frozen)[1:-1], body[end:]))


def system_at(conversation: Conversation) -> int | None:
    """Index of the message with the system text: the last of those with which a conversation begins, if it can be read.

    What stands in the head goes with the first message.
    """
    if conversation.system:
        return 0
    last = system_messages(conversation) - 1
    return None if last < 0 or conversation.messages[last].message.broken else last


def system_messages(conversation: Conversation) -> int:
    """How many system messages a conversation begins with."""
    roles = [placed.message.role for placed in conversation.messages]
    return next((k for k, role in enumerate(roles) if role not in _SYSTEM), len(roles))


def _span(body: bytes, conversation: Conversation) -> tuple[int, int] | None:
    """Where the content of the system text stands."""
    if conversation.system:
        start, end = conversation.system
        return (start + len(body), end + len(body)) if start < 0 else (start, end)
    at = system_at(conversation)
    if at is None:
        return None
    placed = conversation.messages[at]
    return _spans(body, placed.start, placed.end).get("content")


def _end_of_text(body: bytes, start: int, end: int) -> int | None:
    """Where the last text of a content ends, before its closing quote."""
    if body[start : start + 1] == b'"':
        return end - 1
    if body[start : start + 1] != b"[":
        return None
    for part, stop in reversed(elements(body, start, end)):
        inner = _spans(body, part, stop) if body[part : part + 1] == b"{" else {}
        at, close = inner.get("text", (0, 0))
        kind = body[slice(*inner.get("type", (0, 0)))].decode("utf-8", "replace")
        if body[at : at + 1] == b'"' and (not kind or kind in _TEXTS):
            return close - 1
    return None


def _spans(body: bytes, start: int, end: int) -> dict[str, tuple[int, int]]:
    found, _ = members(body, start, end)
    return {member.key: (member.start, member.end) for member in found}
