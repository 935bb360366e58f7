"""Which conversation a request continues, and how much of it was forwarded before.

Explicit ids come first, but one id may hold a main chat, a title request and sub-agents: it is a namespace, and the
chain of message hashes tells them apart (research on agents' wire behaviour: most send no id at all).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b

from gateway.cache import BoundedCache
from gateway.types import Conversation, Message

REMEMBERED = 24_000
"""Histories (one for each message of each conversation) that are remembered."""

_HEADERS = (
    "x-taco-session",
    "session-id",
    "session_id",
    "thread-id",
    "x-claude-code-session-id",
    "x-opencode-session",
    "x-session-id",
    "x-session-affinity",
    "agent-session-id",
    "x-litellm-session-id",
    "x-affinity",
)
_ID = re.compile(r"[\w.:@/-]{1,128}")


@dataclass(frozen=True, slots=True)
class _Node:
    session: str
    forwarded: bytes
    """Rolling digest of all messages up to here, as they were forwarded."""
    follower: bytes | None = None
    """The history that went on from here first."""
    silent: bool = False
    """A request that ended here asked for no answer."""
    asked: bool = False
    """A request ended here or before: what goes on from it has more in common with it than how its agent begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What is known of a request's history before it is forwarded."""

    session: str
    parent: str | None
    known: int
    """So many leading messages were forwarded before, in this order."""
    retry: bool
    """All of them were: nothing new is asked."""
    forwarded: bytes | None
    """Rolling digest of the known prefix, as it was forwarded."""


class Sessions:
    """Remembers the histories that were forwarded."""

    def __init__(self) -> None:
        self._nodes: BoundedCache[bytes, _Node] = BoundedCache(REMEMBERED)
        self._names: BoundedCache[str, bytes] = BoundedCache(REMEMBERED)

    def resume(self, conversation: Conversation, chain: tuple[bytes, ...], named: str | None) -> History:
        """The session that a request continues: its history was forwarded before, and then the model answered."""
        known = next((k for k in range(len(chain), 0, -1) if self._nodes.has(chain[k - 1])), 0)
        node = self._nodes.get(chain[known - 1]) if known else None
        if node is None:
            session, parent = self._name(chain, named)
            return History(session=session, parent=parent, known=0, retry=False, forwarded=None)
        retry = known == len(chain)
        if retry or (
            (node.silent or _is_answer(conversation.messages[known].message)) and node.follower in (None, chain[known])
        ):
            return History(session=node.session, parent=None, known=known, retry=retry, forwarded=node.forwarded)
        # the history goes on otherwise: a sub-agent, a second try, an edited or compacted history; or it is a new one
        # that begins with the same words of the system
        session, parent = self._name(chain, named)
        parent = node.session if node.asked else parent
        return History(session=session, parent=parent, known=known, retry=False, forwarded=node.forwarded)

    def _name(self, chain: tuple[bytes, ...], named: str | None) -> tuple[str, str | None]:
        """A name for a new session, and its parent: the session that has the client's id already."""
        own = "s-" + blake2b(chain[-1], digest_size=8).hexdigest()
        if named is None:
            return own, None
        if self._names.has(named):
            return f"{named}/{own}", named
        self._names.put(named, chain[-1])
        return named, None

    def remember(
        self, conversation: Conversation, chain: tuple[bytes, ...], history: History, rewritten: Mapping[int, bytes]
    ) -> bool:
        """Note that a request is forwarded; `False` if its known prefix is not forwarded as it was before."""
        rolling = b""
        whole = True
        before = self._nodes.get(chain[history.known - 1]) if history.known else None
        asked = before is not None and before.asked
        # What another session goes on from is still that session's to go on from.
        ours = history.known + (before is not None and before.session != history.session)
        for k, (placed, name) in enumerate(zip(conversation.messages, chain, strict=True)):
            digest = blake2b(rolling + placed.message.canonical, digest_size=16)
            digest.update(rewritten.get(k, b""))
            rolling = digest.digest()
            if k + 1 == history.known and history.forwarded is not None:
                whole = rolling == history.forwarded
            if k + 1 >= ours:
                follower = chain[k + 1] if k + 1 < len(chain) else None
                asked = asked or follower is None
                silent = follower is None and conversation.silent
                self._nodes.put(name, _Node(history.session, rolling, follower, silent, asked))
        return whole


def _is_answer(message: Message) -> bool:
    """The model made it; in some forms calls that the provider ran itself stand with their results."""
    return message.role == "assistant" or bool(message.calls)


def named_session(headers: Mapping[str, str], prompt_cache_key: str | None) -> str | None:
    """The session id that a client sends, if it sends one."""
    for name in _HEADERS:
        value = headers.get(name)
        if value and _ID.fullmatch(value):
            return value
    return prompt_cache_key if prompt_cache_key and _ID.fullmatch(prompt_cache_key) else None
