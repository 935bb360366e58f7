"""Chat messages in JSON lines: one session a line, or one message a line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gateway.recordings.session import Lines, Note, RecordingError, Session


def is_form(line: object) -> bool:
    """It holds messages, or is one."""
    return isinstance(line, dict) and ("messages" in line or "role" in line)


def read(lines: Lines, path: Path, note: Note) -> Iterator[Session]:
    """The sessions of a file; whoever made it can mend it, so that the first line that is wrong ends it."""
    rows = ((line, _row(text, path, line)) for line, text in lines)
    for line, row in rows:
        if line == 1 and "role" in row:
            row = {"messages": [row, *(_message(each, path, at) for at, each in rows)]}
        yield _session(row, path, line)


def _message(row: dict[str, Any], path: Path, line: int) -> dict[str, Any]:
    if "role" not in row:
        raise RecordingError(f"{path}, line {line}: has no role: this file holds one message a line")
    return row


def _row(text: bytes, path: Path, line: int) -> dict[str, Any]:
    try:
        row = json.loads(text.decode())
    except (ValueError, RecursionError) as error:
        raise RecordingError(f"{path}, line {line}: not JSON: {error}") from error
    if not isinstance(row, dict):
        raise RecordingError(f"{path}, line {line}: must be an object: a session with 'messages', or one message")
    return row


def _session(row: Mapping[str, Any], path: Path, line: int) -> Session:
    messages = row.get("messages")
    if not isinstance(messages, list) or not all(isinstance(m, dict) and "role" in m for m in messages):
        raise RecordingError(f"{path}, line {line}: lacks 'messages', a list of chat messages with their roles")
    model, tools = row.get("model"), row.get("tools")
    return Session(
        name=str(row.get("id") or f"{path.name}:{line}"),
        model=model if isinstance(model, str) and model else None,
        messages=messages,
        tools=tools if isinstance(tools, list) else (),
    )
