"""The store: pinned decisions, the archive of exchanges, the audit, the events of the rule pools."""

from __future__ import annotations

from memory.archive import Archive
from memory.canon import canonical, digest, message_hash
from memory.decisions import Choice, Decisions
from memory.errors import StoreBusy, StoreCorrupt, StoreError
from memory.pool import EventRow, PoolEvents
from memory.redaction import redact
from memory.spill import Spill
from memory.types import (
    ExchangeRecord,
    ExchangeRow,
    Message,
    Outcome,
    Report,
    RewriteRecord,
    RewriteRow,
    RewriteTexts,
    SignalRecord,
    Totals,
)

__all__ = [
    "Archive",
    "Choice",
    "Decisions",
    "EventRow",
    "ExchangeRecord",
    "ExchangeRow",
    "Message",
    "Outcome",
    "PoolEvents",
    "Report",
    "RewriteRecord",
    "RewriteRow",
    "RewriteTexts",
    "SignalRecord",
    "Spill",
    "StoreBusy",
    "StoreCorrupt",
    "StoreError",
    "Totals",
    "canonical",
    "digest",
    "message_hash",
    "redact",
]
