"""Recorded sessions: chat messages in JSON lines, one session a line or one message a line."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class RecordingError(Exception):
    """A file that holds no recorded sessions; says which line and why."""


@dataclass(frozen=True, slots=True)
class Session:
    """One recorded conversation."""

    name: str
    model: str | None
    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[object]

    @property
    def turns(self) -> list[int]:
        """Positions of the agent's turns; each answered one request. A turn that opens the session answered none."""
        return [at for at, message in enumerate(self.messages) if at and message["role"] == "assistant"]


def read_sessions(path: Path) -> list[Session]:
    """The sessions of a file, which may be gzipped. Raises `RecordingError`."""
    rows = list(_read_rows(path))
    if rows and all("role" in row for _, row in rows):
        rows = [(1, {"messages": [row for _, row in rows]})]
    return [_session(row, path, line) for line, row in rows]


def _read_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            for line, text in enumerate(file, 1):
                if text.strip():
                    yield line, _row(text, path, line)
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise RecordingError(f"{path}: cannot be read: {error}") from error


def _row(text: str, path: Path, line: int) -> dict[str, Any]:
    try:
        row = json.loads(text)
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
