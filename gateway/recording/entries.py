"""What is handed over of a closed exchange, to be counted and stored: only what was not handed over before.

Exchange ─handover→ Entry ─ledger→ ExchangeRecord ─archive→ rows
"""

from __future__ import annotations

from dataclasses import dataclass

from memory import ExchangeRecord
from rules_engine import Applied


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """A request without its messages: an agent sends the same tools with every request."""

    name: bytes
    """Digest of the content."""
    content: bytes | None
    """`None` where it was handed over before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fresh:
    """What the audit needs of an observation that this exchange decided to rewrite."""

    key: str
    tool: str
    command: str
    omissions: tuple[tuple[str, tuple[tuple[int, int], ...]], ...]
    """(recall id, slices of the text before)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """An observation that was forwarded otherwise than it came."""

    raw: str
    """Digest of the text before."""
    forwarded: str
    """Digest of the text after."""
    before: str
    after: str
    applied: tuple[Applied, ...]
    fresh: Fresh | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One message as it came, and what was changed in it."""

    name: bytes
    """Digest of its canonical content."""
    role: str
    content: bytes
    words: str
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One closed exchange."""

    record: ExchangeRecord
    """All that has to be neither counted nor read; the rest is still empty in it."""
    head: Head | None
    """`None` where the request was not a conversation."""
    same: int
    """So many leading messages are those of the session's entry before, forwarded alike."""
    messages: tuple[Told, ...]
    """All further ones."""
    reply: bytes | None
    """The answer as it came; `None` where nobody can read it."""
    content_type: str
    content_encoding: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What became of a batch of entries."""

    recorded: int = 0
    spilled: int = 0
    replayed: int = 0
    dropped: int = 0
    lacking: tuple[int, ...] = ()
    """Places in the batch of those that refer to what was handed over to somebody else: they have to come whole."""
    problem: str | None = None
    lines: tuple[dict[str, object], ...] = ()
    """What the log says of each: names and numbers, no text of anybody's."""
    faults: tuple[tuple[str, str], ...] = ()
    """(request, why it was dropped)."""
