"""Reads request bodies: of one that begins as an earlier one did, only what is new."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gateway.bodies import Cache
from gateway.cache import BoundedCache
from gateway.shapes import Shape
from gateway.types import Conversation

CACHED_BYTES = 6 << 20
KNOWN_BYTES = 20 << 20
MOST_KNOWN = 64
"""Conversations whose last body is kept, at most: each is looked at for every body."""
LONG = 16_000
"""Bytes from which on a body is worth keeping."""
_ENDING = 64
_MARK = b'"cache_control"'
_MOVING = 6
"""Messages at the end in which a client moves such marks on from turn to turn, at most."""


@dataclass(frozen=True, slots=True)
class _Known:
    """The last body of a conversation."""

    shape: Shape
    beginning: memoryview
    """The body up to the end of its last message that will be sent again as it is."""
    ending: bytes
    """The last bytes of that."""
    conversation: Conversation

    @property
    def name(self) -> tuple[int, bytes]:
        """What it is kept by."""
        return len(self.beginning), self.ending

    def is_begun(self, shape: Shape, body: bytes) -> bool:
        """Whether `body` begins so."""
        # The end first, by which conversations of one agent differ: they all begin alike.
        at = len(self.beginning) - len(self.ending)
        return self.shape is shape and body.startswith(self.ending, at) and body.startswith(self.beginning)


class Reader:
    """Remembers messages, and the last body of each conversation."""

    def __init__(self) -> None:
        self._messages: Cache = BoundedCache(CACHED_BYTES)
        self._known: BoundedCache[tuple[int, bytes], _Known] = BoundedCache(KNOWN_BYTES)

    def read(self, shape: Shape, body: bytes) -> Conversation:
        """The conversation in a body. Raises `BadRequest` with what to do."""
        if len(body) < LONG:
            return shape.read(body, self._messages)
        known = next((known for known in self._known.values() if known.is_begun(shape, body)), None)
        conversation = shape.read(body, self._messages, known.conversation if known else None)
        if known:
            self._known.drop(known.name)
        self._keep(shape, body, conversation)
        return conversation

    def _keep(self, shape: Shape, body: bytes, conversation: Conversation) -> None:
        conversation = _lasting(body, conversation)
        end = conversation.messages[-1].end
        ending = body[max(end - _ENDING, 0) : end]
        known = _Known(shape, memoryview(body)[:end], ending, conversation)
        # Its messages are kept beside the bytes.
        size = 3 * len(body) + 1000 * len(conversation.messages)
        self._known.put(known.name, known, max(size, KNOWN_BYTES // MOST_KNOWN))


def _lasting(body: bytes, conversation: Conversation) -> Conversation:
    """The conversation without the end that will be written anew."""
    listed = conversation.messages
    start = max(len(listed) - _MOVING, 1)
    marked = (k for k, one in enumerate(listed[start:], start) if body.find(_MARK, one.start, one.end) >= 0)
    first = next(marked, None)
    return conversation if first is None else replace(conversation, messages=listed[:first])
