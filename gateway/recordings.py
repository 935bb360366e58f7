"""Recorded sessions: chat messages in JSON lines, one session a line or one message a line."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
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


def read_sessions(path: Path, heard: Callable[[int], None] | None = None) -> Iterator[Session]:
    """The sessions of a file, which may be gzipped, as they are read; `heard` is told how many bytes have been.

    Raises `RecordingError`.
    """
    rows = _read_rows(path, heard or (lambda size: None))
    for line, row in rows:
        if line == 1 and "role" in row:
            row = {"messages": [row, *(_message(each, path, at) for at, each in rows)]}
        yield _session(row, path, line)


def _read_rows(path: Path, heard: Callable[[int], None]) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        with path.open("rb") as file, gzip.open(file) if path.suffix == ".gz" else file as lines:
            for line, text in enumerate(lines, 1):
                heard(file.tell())
                if text.strip():
                    yield line, _row(text.decode(), path, line)
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise RecordingError(f"{path}: cannot be read: {error}") from error


def _message(row: dict[str, Any], path: Path, line: int) -> dict[str, Any]:
    if "role" not in row:
        raise RecordingError(f"{path}, line {line}: has no role: this file holds one message a line")
    return row


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
