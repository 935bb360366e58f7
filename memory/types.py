"""The archive's nouns: what is handed over about one exchange, and what can be asked back.

    ExchangeRecord ─append→ rows (messages once each, exchanges, rewrites in a digest chain)

Texts arrive as they were; they are redacted where they are written, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Outcome = Literal["completed", "failed", "abandoned"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a conversation, named by its content and its parent."""

    hash: str
    parent: str | None
    role: str
    content: bytes
    """The message as JSON, as the client sent it (for a reply: as assembled from the stream)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteRecord:
    """One observation that was forwarded otherwise than it was sent, when that was decided."""

    key: str
    tool: str
    command: str
    before: str
    after: str
    rules: tuple[tuple[str, int], ...]
    omissions: tuple[tuple[str, str], ...] = ()
    """(recall id, omitted text)."""
    tokens_before: int
    tokens_after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalRecord:
    """What the agent did that speaks of an earlier decision."""

    name: str
    key: str
    rules: tuple[tuple[str, int], ...]
    evidence: str
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeRecord:
    """One request and all that came of it."""

    id: str
    session: str
    parent_session: str | None
    tenant: str
    started: float
    first_byte: float | None
    ended: float
    """Seconds since the epoch."""
    method: str
    path: str
    shape: str | None
    """`None` for a path that is only relayed."""
    upstream: str
    model: str | None
    stream: bool
    retry: bool
    status: int | None
    outcome: Outcome
    error: str | None
    tip: str | None
    """Hash of the last message of the request."""
    messages: tuple[Message, ...]
    """Those of the request that were not handed over before in this session, in order."""
    head: bytes
    """The request body without its messages, as JSON; b"" where there was none."""
    reply: Message | None
    reported: Mapping[str, object] | None
    """The provider's usage object, as it came."""
    accounts: Mapping[str, object]
    """Counted tokens and simulated money; see `gateway.recording.accounts`."""
    kept: Mapping[str, int]
    """How many observations stayed raw, by reason."""
    rewrites: tuple[RewriteRecord, ...] = ()
    signals: tuple[SignalRecord, ...] = ()
    redacted: bool = field(default=False, compare=False)
    """No secret is left in it: it may be written as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeRow:
    """One exchange as the archive gives it back; its messages are asked for by `tip` or `reply`."""

    id: str
    session: str
    parent_session: str | None
    tenant: str
    started: float
    first_byte: float | None
    ended: float
    method: str
    path: str
    shape: str | None
    upstream: str
    model: str | None
    stream: bool
    retry: bool
    status: int | None
    outcome: Outcome
    error: str | None
    tip: str | None
    head: str | None
    """Digest of the request body without its messages."""
    reply: str | None
    """Hash of the reply; its chain ends with it."""
    reported: Mapping[str, object] | None
    accounts: Mapping[str, object]
    kept: Mapping[str, int]
    rewrites: tuple[str, ...]
    """Their ids."""
    signals: tuple[SignalRecord, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteTexts:
    """What a rewrite was about, redacted."""

    command: str
    before: str
    after: str
    omissions: tuple[tuple[str, str], ...]
    """(recall id, omitted text)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteRow:
    """One link in the chain of the audit."""

    id: str
    exchange: str
    session: str
    tenant: str
    time: float
    key: str
    tool: str
    rules: tuple[tuple[str, int], ...]
    tokens_before: int
    tokens_after: int
    digest: str
    """Of this row and all before it."""
    texts: RewriteTexts | None = None
    """`None` in a list, and where they were forgotten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOff:
    """The last request of a session that its provider took."""

    model: str | None
    started: float
    messages: frozenset[str]
    """Their names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Sums over exchanges."""

    requests: int
    sessions: int
    """Of requests that name a model; each other request is alone."""
    retries: int
    rewrites: int
    outcomes: Mapping[str, int]
    kept: Mapping[str, int]
    signals: Mapping[str, int]
    accounts: Mapping[str, object]
    """In the form of the accounts of one exchange: every number is the sum of all that were known."""
    models: Mapping[str, Mapping[str, object]]
    """For each model ``requests`` and its ``accounts``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What `verify` found."""

    messages: int
    """Messages whose content is there and was checked."""
    rewrites: int
    head: str
    """Digest of the last row of the audit: written down elsewhere, it proves that no row was cut off the end."""
    problems: tuple[str, ...]
