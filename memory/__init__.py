"""The store: pinned decisions, the archive of exchanges, the audit, the events of the rule pools, the levels of memory."""

from __future__ import annotations

from memory.archive import Archive
from memory.canon import canonical, digest, message_hash
from memory.decisions import Choice, Decisions
from memory.errors import StoreBusy, StoreCorrupt, StoreError, StoreMissing
from memory.L4_raw_sessions.checking import Verified, verify
from memory.L4_raw_sessions.compress_session import batch_process, compress_session, extract_history
from memory.L4_raw_sessions.export import export
from memory.L4_raw_sessions.forgetting import Forgotten, forget, forget_all
from memory.L4_raw_sessions.histories import search_history
from memory.L4_raw_sessions.reading import Told, read_session, resolve, restore
from memory.L4_raw_sessions.rebuild import Rebuilt, rebuild_index
from memory.L4_raw_sessions.redacting import Redacted, redact_archive
from memory.L4_raw_sessions.search import Found, search_sessions
from memory.L4_raw_sessions.sweeping import PatternRefused
from memory.pool import EventRow, PoolEvents
from memory.rawlog import Logged, RawLog, Takes
from memory.redaction import redact
from memory.spill import Spill
from memory.types import (
    ExchangeRecord,
    ExchangeRow,
    LeftOff,
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
    "Forgotten",
    "Found",
    "LeftOff",
    "Logged",
    "Message",
    "Outcome",
    "PatternRefused",
    "PoolEvents",
    "RawLog",
    "Rebuilt",
    "Redacted",
    "Report",
    "RewriteRecord",
    "RewriteRow",
    "RewriteTexts",
    "SignalRecord",
    "Spill",
    "StoreBusy",
    "StoreCorrupt",
    "StoreError",
    "StoreMissing",
    "Takes",
    "Told",
    "Totals",
    "Verified",
    "batch_process",
    "canonical",
    "compress_session",
    "digest",
    "export",
    "extract_history",
    "forget",
    "forget_all",
    "message_hash",
    "read_session",
    "rebuild_index",
    "redact",
    "redact_archive",
    "resolve",
    "restore",
    "search_history",
    "search_sessions",
    "verify",
]
