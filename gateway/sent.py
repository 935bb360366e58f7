"""What was forwarded of histories: as long as its bytes and its decisions stay the same, nothing of it is done again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gateway.cache import BoundedCache
from gateway.passes import Pass, Shown
from gateway.pins import Pinned, Recalled
from gateway.types import Conversation, Placed

CACHED_BYTES = 12 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What was forwarded of a history; by default of the empty one."""

    last: Placed | None = None
    """Its last message. A body that was read on from it is the same up to there, in every byte."""
    seen: int = 0
    """How many texts it holds."""
    pinned: Mapping[str, Pinned] = field(default_factory=dict)
    shown: Mapping[str, Shown] = field(default_factory=dict)
    mismatches: int = 0
    digests: Mapping[int, bytes] = field(default_factory=dict)
    """See `Outgoing`."""
    body: bytes | memoryview = b""
    """The body that was forwarded, up to the end of the last message."""
    weight: int = 1000
    """Bytes in memory of all but the body."""

    @property
    def end(self) -> int:
        """Where the last message ends in the body that came."""
        return self.last.end if self.last else 0


def forwarded(
    conversation: Conversation, seen: int, done: Pass, digests: Mapping[int, bytes], body: bytes, size: int
) -> Sent:
    """What is forwarded of a conversation as `body`, where a body of this size came."""
    last = conversation.messages[-1]
    return Sent(
        last=last,
        seen=seen,
        pinned=done.pinned,
        shown=done.shown,
        mismatches=done.kept["mismatch"],
        digests=digests,
        body=memoryview(body)[: len(body) - (size - last.end)],
        weight=done.weight,
    )


class Sending:
    """Remembers what was forwarded last of each conversation."""

    def __init__(self) -> None:
        self._sent: BoundedCache[bytes, Sent] = BoundedCache(CACHED_BYTES)

    def find(
        self, conversation: Conversation, chain: tuple[bytes, ...], known: int, pinned: Mapping[str, Pinned]
    ) -> Sent:
        """What was forwarded of the first `known` messages, if they would be forwarded so again."""
        if conversation.past:
            return Sent()  # they are in no body
        sent = self._sent.get(chain[known - 1]) if 0 < known <= len(chain) else None
        if sent is None or conversation.messages[known - 1] is not sent.last:
            return Sent()
        decided = {key: decision for key, decision in pinned.items() if key in sent.shown}
        return sent if decided == sent.pinned else Sent()

    def keep(self, conversation: Conversation, chain: tuple[bytes, ...], known: int, sent: Sent) -> None:
        """Remember what is forwarded, in the place of what was of the first `known` messages."""
        if conversation.past:
            return
        if 0 < known <= len(chain):
            self._sent.drop(chain[known - 1])
        if not any(
            isinstance(decision, Recalled) for decision in sent.pinned.values()
        ):  # the store may answer otherwise
            self._sent.put(chain[-1], sent, len(sent.body) + sent.weight)
