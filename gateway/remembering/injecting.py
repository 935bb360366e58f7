"""Puts the index of memory behind a session's system text: off by default, chosen once, the same bytes on every later turn.

L0's stub + L1 ─wrap→ text ─pin→ the session's text ─inject→ body

What is put in never reaches the archive, which keeps what the client sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Literal

import structlog

from gateway.cache import BoundedCache
from gateway.identity import last_assistant
from gateway.pins import Commit
from gateway.remembering.placing import CLOSE, OPEN, inject, system_at, system_messages
from gateway.rewriter import Outgoing
from gateway.types import Conversation
from memory import Decisions, StoreError
from memory.levels import insight, rules
from memory.levels.files import read_text
from memory.roots import root_of

LIMIT = 1536
"""Bytes that are put in at most."""
SESSIONS = 100_000
"""Sessions whose text is remembered; further ones ask the store."""
FRESH_SECONDS = 30.0
"""How old an index may be when a session begins with it."""


def wrap(index: str) -> str:
    """What is put in for an index; "" where it says nothing, or would be more than it may."""
    told = [line for line in index.split("\n") if line.strip() and line != "[RULES]"]
    text = f"\n\n{OPEN}\n{rules.STUB}\n{index.strip()}\n{CLOSE}"
    fits = len(text.encode()) <= LIMIT and OPEN not in index and CLOSE not in index
    return text if fits and any(not line.startswith(("#", "L0 ", "L4 ")) for line in told) else ""


class Injector:
    """Gives each session its text: pinned when the session begins, in the store of decisions, for all processes."""

    def __init__(
        self,
        mode: Literal["off", "index"],
        store: Decisions,
        text: Callable[[str], str],
        clock: Callable[[], float],
        deadline: float,
    ) -> None:
        """`text` reads what a tenant's sessions begin with now; it may wait for the disk."""
        self._mode = mode
        self._store = store
        self._texts = _Texts(text, clock)
        self._deadline = deadline
        self._known: BoundedCache[str, str] = BoundedCache(SESSIONS)

    async def apply(
        self, outgoing: Outgoing, conversation: Conversation, *, tenant: str, chain: tuple[bytes, ...]
    ) -> Outgoing:
        """What is forwarded, with the session's text in it. The same object where nothing is put in."""
        at = system_at(conversation)
        if self._mode == "off" or at is None:
            return outgoing
        frozen, committed = await self._freeze(_name(conversation, chain), conversation, tenant)
        # what the provider keeps was sent with it
        body = outgoing.body if conversation.past else inject(outgoing.body, conversation, frozen)
        if not frozen or (body is outgoing.body and not conversation.past):
            return outgoing
        digest = blake2b(frozen.encode(), digest_size=16).digest()
        return replace(
            outgoing,
            body=body,
            digests={**outgoing.digests, at: digest},
            committed=_both(outgoing.committed, committed),
        )

    async def _freeze(self, name: str, conversation: Conversation, tenant: str) -> tuple[str, Commit | None]:
        """The session's text, and its commit where it was pinned just now."""
        known = self._known.get(name)
        if known is not None:
            self._store.note_used([name])
            return known, None
        frozen, committed = "", None
        try:
            found = (await self._store.find([name], self._deadline)).get(name)
            if found is None and last_assistant(conversation) < 0:
                found, committed = await self._pin(name, await self._texts.of(tenant))
            frozen = (found or b"").decode()
        except StoreError as error:  # as it begins it goes on, as long as this process lives
            structlog.get_logger("taco").warning("the index of memory is left out", reason=str(error))
            frozen = self._known.get(name) or ""
        self._known.put(name, frozen)
        return frozen, committed

    async def _pin(self, name: str, text: str) -> tuple[bytes, Commit | None]:
        if not text:
            return b"", None
        choice = await self._store.choose([(name, text.encode())], self._deadline)

        async def committed() -> bool:
            try:
                await choice.committed()
            except StoreError:
                return False
            return True

        return choice.winners[name], committed


class _Texts:
    """Each tenant's text, read when first asked for and again, beside the caller, when it has grown old."""

    def __init__(self, read: Callable[[str], str], clock: Callable[[], float]) -> None:
        self._read = read
        self._clock = clock
        self._known: dict[str, tuple[str, float]] = {}

    async def of(self, tenant: str) -> str:
        known = self._known.get(tenant)
        if known is None:
            await asyncio.to_thread(self._load, tenant)
        elif self._clock() - known[1] > FRESH_SECONDS:
            self._known[tenant] = (known[0], self._clock())
            asyncio.get_running_loop().run_in_executor(None, self._load, tenant)
        return self._known[tenant][0]

    def _load(self, tenant: str) -> None:
        try:
            text = self._read(tenant)
        except (StoreError, OSError) as error:
            structlog.get_logger("taco").warning("the index of memory cannot be read", reason=str(error))
            text = ""
        self._known[tenant] = (text, self._clock())


def read_index(data: Path, tenant: str) -> str:
    """What a tenant's sessions begin with now. An index that breaks its own rules is left out."""
    root = root_of(data, tenant) / "memory"
    index = read_text(root / insight.FILE)
    problems = insight.check(root, index)
    if problems:
        structlog.get_logger("taco").warning("the index of memory is left out", reason="; ".join(problems))
    return "" if problems else wrap(index)


def _name(conversation: Conversation, chain: tuple[bytes, ...]) -> str:
    """Names a session by all up to its first message that is no system text: a restart does not change it."""
    first = min(system_messages(conversation), len(conversation.messages) - 1)
    return f"memory:{chain[first].hex()}"


def _both(one: Commit | None, other: Commit | None) -> Commit | None:
    if one is None or other is None:
        return one or other

    async def committed() -> bool:
        first, second = await asyncio.gather(one(), other())
        return first and second

    return committed
