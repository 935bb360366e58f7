"""The store: pinned decisions, the archive of exchanges, the audit."""

from __future__ import annotations

from memory.canon import canonical, digest, message_hash
from memory.decisions import Choice, Decisions
from memory.errors import StoreBusy, StoreCorrupt, StoreError
from memory.types import ExchangeRecord, Message, Outcome, RewriteRecord, SignalRecord

__all__ = [
    "Choice",
    "Decisions",
    "ExchangeRecord",
    "Message",
    "Outcome",
    "RewriteRecord",
    "SignalRecord",
    "StoreBusy",
    "StoreCorrupt",
    "StoreError",
    "canonical",
    "digest",
    "message_hash",
]
