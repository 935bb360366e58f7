"""Decisions pinned for good: memory first, the store behind it, and the one atomic choice between rivals."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from gateway import weights
from gateway.cache import BoundedCache
from memory import Choice, Decisions, StoreError
from rules_engine import EngineError, Rewritten, dump, load

CACHED_BYTES = 8 << 20
RETRY_SECONDS = 2.0
"""After the store failed, how long new observations stay raw without asking it again."""

UNSAVED = 1000
"""Decisions whose commit failed that are kept for the next one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a recall gets in the place of one ``recall:ID`` line."""

    id: str
    source: str | None
    """Key of the observation in the request whose raw text is quoted; `None`: the redacted store has it; "": nobody."""
    spans: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """The result of a recall: omitted lines are put back. It holds no text, so no secret is stored."""

    key: str
    raw_digest: str
    answers: tuple[Answer, ...]


Pinned = Rewritten | Recalled
Commit = Callable[[], Awaitable[bool]]
"""Asks whether a choice is safe; the answer comes when that is known."""

_RECALLED = b"R1"

T = TypeVar("T")


class Pins:
    """Pinned decisions by key. A key that is known to have none is remembered as such."""

    def __init__(self, store: Decisions, clock: Callable[[], float], deadline: float) -> None:
        self._store = store
        self._clock = clock
        self._deadline = deadline
        self._known: BoundedCache[str, Pinned | None] = BoundedCache(CACHED_BYTES)
        self._down_until = 0.0
        self._unsaved: dict[str, bytes] = {}
        self._commits: set[asyncio.Future[bool]] = set()
        self.failures = 0

    @property
    def is_down(self) -> bool:
        """The store failed a moment ago: nothing new may be pinned."""
        return self._clock() < self._down_until

    async def find(self, keys: Sequence[str]) -> dict[str, Pinned]:
        """The decisions that exist. Raises `StoreError` if the store cannot say."""
        missing = [key for key in keys if not self._known.has(key)]
        if missing:
            found = await self._ask(self._store.find(missing))
            for key in missing:
                self._keep(key, found.get(key))
        return self.remembered(keys)

    def remembered(self, keys: Sequence[str]) -> dict[str, Pinned]:
        """The decisions that are known without asking the store."""
        found = {key: pinned for key in keys if (pinned := self._known.get(key)) is not None}
        self._store.note_used(found)
        return found

    async def choose(self, wanted: Sequence[Pinned]) -> tuple[dict[str, Pinned], Commit]:
        """Pin decisions; where another came first, that one wins. The second value tells, in the end, if they are safe.

        Raises `StoreError` if nothing could be pinned: then nothing is.
        """
        mine = {pinned.key: (encode(pinned), pinned) for pinned in wanted}
        rows = self._unsaved | {key: data for key, (data, _) in mine.items()}
        choice = await self._ask(self._store.choose([*rows.items()], self._deadline))
        won = {}
        for key, (data, pinned) in mine.items():
            if choice.winners[key] == data:
                self._known.put(key, pinned, weigh(pinned))
            else:
                self._keep(key, choice.winners[key])
            if (winner := self._known.get(key)) is not None:
                won[key] = winner
        commit = asyncio.ensure_future(self._see_through(choice))
        self._commits.add(commit)
        commit.add_done_callback(self._commits.discard)
        return won, lambda: asyncio.shield(commit)

    async def _see_through(self, choice: Choice) -> bool:
        """Wait for a commit. What was forwarded and is not safe is written with the next choice."""
        try:
            await choice.committed()
        except StoreError:
            self._fail()
            if len(self._unsaved) < UNSAVED:
                self._unsaved |= choice.winners
            return False
        for key in choice.winners:
            self._unsaved.pop(key, None)
        return True

    async def _ask(self, question: Awaitable[T]) -> T:
        try:
            async with asyncio.timeout(self._deadline * 2):
                return await question
        except (StoreError, TimeoutError) as error:
            self._fail()
            raise StoreError(str(error) or "the store did not answer in time") from error

    def _fail(self) -> None:
        self.failures += 1
        self._down_until = self._clock() + RETRY_SECONDS

    def _keep(self, key: str, data: bytes | None) -> None:
        try:
            pinned = decode(key, data) if data is not None else None
        except (EngineError, ValueError, KeyError, TypeError):
            self.failures += 1  # written by a newer version, or damaged: raw text is the safe answer
            pinned = None
        self._known.put(key, pinned, weigh(pinned))


def weigh(pinned: Pinned | None) -> int:
    """Bytes in memory, with the key; what is known to have no decision weighs something, too."""
    if isinstance(pinned, Rewritten):
        return 300 + weights.of_decision(pinned)
    return 300 if pinned is None else 500 + sum(300 + 130 * len(answer.spans) for answer in pinned.answers)


def encode(pinned: Pinned) -> bytes:
    """A decision as it is stored."""
    if isinstance(pinned, Rewritten):
        return dump(pinned)
    answers: list[Mapping[str, object]] = [{"id": a.id, "source": a.source, "spans": a.spans} for a in pinned.answers]
    return _RECALLED + json.dumps({"raw": pinned.raw_digest, "answers": answers}).encode()


def decode(key: str, data: bytes) -> Pinned:
    """The decision in a stored row. Raises `EngineError` or what reading JSON raises if it cannot be read."""
    if not data.startswith(_RECALLED):
        return load(key, data)
    fields = json.loads(data[len(_RECALLED) :])
    answers = tuple(
        Answer(id=a["id"], source=a["source"], spans=tuple((start, end) for start, end in a["spans"]))
        for a in fields["answers"]
    )
    return Recalled(key=key, raw_digest=fields["raw"], answers=answers)
