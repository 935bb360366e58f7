"""Histories that the provider keeps: a request names the answer that it goes on from, and sends only what is new.

What was sent before is put in front of it again, for us alone: so commands, recalls, signals, sessions and accounts are
those of the whole conversation. What is not known (after a restart, from another process) is simply not there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from gateway.cache import BoundedCache
from gateway.encodings import decompress
from gateway.messages.responses import read_message
from gateway.replies.responses import read_reply
from gateway.types import Conversation, Headers, Placed

CACHED_BYTES = 32 << 20
_WEIGHT = 3
"""Of a message its bytes, its texts and its words are kept."""
_HEAD = 4096
"""Bytes of an answer in which its name is looked for."""
_NAME = re.compile(rb'"id"\s*:\s*"([^"\\]{1,200})"')


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answered:
    """A conversation up to an answer, which is read only if somebody goes on from it."""

    messages: tuple[Placed, ...]
    raw: tuple[bytes, ...]
    """Each message as it came."""
    root: str | None
    reply: bytes
    content_type: str
    content_encoding: str

    @property
    def size(self) -> int:
        """Roughly, in memory."""
        return _WEIGHT * (sum(map(len, self.raw)) + len(self.reply))


class Continuing:
    """Remembers conversations by the names under which the provider keeps them."""

    def __init__(self) -> None:
        self._known: BoundedCache[tuple[str, str], _Answered] = BoundedCache(CACHED_BYTES)

    def whole(self, conversation: Conversation, tenant: str) -> Conversation:
        """The conversation with what it goes on from, as far as that is known."""
        known = self._known.get((tenant, conversation.previous)) if conversation.previous else None
        if known is None:
            return conversation
        answer = _read(known)
        return replace(
            conversation,
            messages=(*known.messages, *(placed for placed, _ in answer), *conversation.messages),
            past=(*known.raw, *(raw for _, raw in answer)),
            before=known.root,
        )

    def keep(self, conversation: Conversation, tenant: str, body: bytes, reply: bytes, headers: Headers) -> None:
        """Remember what was answered, and how it was said by the answer's headers, for a request that goes on from it."""
        fields = dict(headers)
        encoding = fields.get(b"content-encoding", b"").decode("latin-1")
        known = _Answered(
            messages=conversation.messages,
            raw=(*conversation.past, *(body[p.start : p.end] for p in conversation.messages[len(conversation.past) :])),
            root=conversation.root,
            reply=reply,
            content_type=fields.get(b"content-type", b"").decode("latin-1"),
            content_encoding=encoding,
        )
        for name in _names(conversation, decompress(reply, encoding, _HEAD).data[:_HEAD]):
            self._known.put((tenant, name), known, known.size)


def _names(conversation: Conversation, reply: bytes) -> Iterator[str]:
    """The answer's own name; that of a conversation at the provider, which grows under the same name."""
    if found := _NAME.search(reply):
        yield found[1].decode("utf-8", "replace")
    if conversation.previous and conversation.previous.startswith("conv"):
        yield conversation.previous


def _read(known: _Answered) -> list[tuple[Placed, bytes]]:
    reply = read_reply(known.reply, known.content_type, known.content_encoding)
    items = reply.message.get("output")
    out = []
    for index, item in enumerate(items if isinstance(items, list) else ()):
        if isinstance(item, dict):
            raw = json.dumps(item, ensure_ascii=False).encode("utf-8", "surrogatepass")
            out.append((Placed(message=read_message(raw, index), start=0, end=0), raw))
    return out
