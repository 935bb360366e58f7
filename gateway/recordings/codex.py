"""Rollout files of Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-….jsonl`, a line for each item of its history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gateway.recordings.session import Lines, Note, Session, rows_of, tell

_ABOUT = frozenset({"session_meta", "turn_context", "world_state", "token_usage_record", "inter_agent_communication"})
"""Lines about a session that are no items."""
_KINDS = _ABOUT | {"response_item", "event_msg", "compacted"}
_NOT_SENT = frozenset({"ghost_snapshot", "other"})
"""Items that stay in the history and are not sent."""


def is_form(first: object) -> bool:
    """It has an envelope of this form; before there were envelopes, it was about the session."""
    if not isinstance(first, dict):
        return False
    return (isinstance(first.get("payload"), dict) and first.get("type") in _KINDS) or {"id", "timestamp"} <= (
        first.keys() - {"messages", "role"}
    )


def read(lines: Lines, path: Path, note: Note) -> Iterator[Session]:
    """The sessions in a file: one more after each compaction, and after each return to an earlier turn."""
    left_out: Counter[str] = Counter()
    history: list[dict[str, Any]] = []
    start, model, sessions = 0, None, list[Session]()
    name = path.name.removesuffix(".gz").removesuffix(".jsonl")

    def close() -> None:
        if len(history) > start:
            named = f"{name}#{len(sessions) + 1}" if sessions else name
            sessions.append(Session(named, model, tuple(history), (), agent="Codex", start=start))

    for row in rows_of(lines, left_out):
        kind, payload = _opened(row)
        if kind == "turn_context":
            model = str(payload["model"]) if payload.get("model") else model
        elif kind == "response_item" and payload.get("type") not in _NOT_SENT:
            history.append(payload)
        elif kind == "compacted":
            close()
            history, start = _compacted(payload), 0
        elif kind == "event_msg" and payload.get("type") == "thread_rolled_back":
            close()
            history = _without_turns(history, payload.get("num_turns"))
            start = len(history)
        elif kind not in _KINDS:
            left_out[f"of type {kind!r}, which is not known"] += 1
    close()
    tell(left_out, path, note)
    yield from sessions


def _opened(row: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The kind and content of a line; the first ones of this form had no envelope."""
    payload = row.get("payload")
    if isinstance(payload, dict):
        return str(row.get("type")), payload
    if "record_type" in row or ("timestamp" in row and "type" not in row):
        return "session_meta", row
    return ("response_item" if "type" in row or "role" in row else str(row.get("type"))), row


def _compacted(payload: dict[str, Any]) -> list[dict[str, Any]]:
    """The history that takes the place of the one before."""
    replacement = payload.get("replacement_history")
    if isinstance(replacement, list):
        return [item for item in replacement if isinstance(item, dict)]
    summary = str(payload.get("message") or "")
    return [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": summary}]}]


def _without_turns(history: list[dict[str, Any]], turns: object) -> list[dict[str, Any]]:
    """The history before its last so many messages of the user's."""
    asked = [at for at, item in enumerate(history) if item.get("role") == "user"]
    count = turns if isinstance(turns, int) and turns > 0 else 0
    return history[: asked[-count] if count <= len(asked) else 0] if count else list(history)
