"""Recorded sessions: one module a form, told apart by the first line of a file.

file ─lines→ Form.read → Session* ─replaying, learning→ what would have been saved; rules
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path

from gateway.recordings import chat, claude_code, codex
from gateway.recordings.session import Form, Lines, Note, RecordingError, Session

__all__ = ["FORMS", "Note", "RecordingError", "Session", "files_in", "read_sessions"]

FORMS: dict[str, Form] = {"Claude Code": claude_code, "Codex": codex, "chat messages": chat}
"""In the order in which they are asked; the last one says what is wrong with a file that is none."""

_ENDINGS = ("*.jsonl", "*.jsonl.gz")


def files_in(paths: Iterable[Path], since: float = 0.0) -> Iterator[tuple[Path, bool]]:
    """Files, and those in folders at any depth that were written to since then (seconds since the epoch), oldest first;
    with each whether it was named."""
    for path in paths:
        if path.is_dir():
            found = {file: file.stat().st_mtime for ending in _ENDINGS for file in path.rglob(ending) if file.is_file()}
            yield from ((file, False) for file in sorted(found, key=lambda f: (found[f], f)) if found[file] >= since)
        else:
            yield path, True


def read_sessions(
    path: Path, heard: Callable[[int], None] | None = None, note: Note | None = None
) -> Iterator[Session]:
    """The sessions of a file, which may be gzipped, as they are read.

    `heard` is told how many bytes have been read, `note` which lines an agent's file holds that are not understood.
    Raises `RecordingError`.
    """
    lines = _read_lines(path, heard or (lambda size: None))
    first = next(lines, None)
    if first is None:
        return
    form = next((form for form in FORMS.values() if form.is_form(_value(first[1]))), chat)
    yield from form.read(chain((first,), lines), path, note or (lambda words: None))


def _read_lines(path: Path, heard: Callable[[int], None]) -> Lines:
    try:
        with path.open("rb") as file, gzip.open(file) if path.suffix == ".gz" else file as lines:
            for number, text in enumerate(lines, 1):
                heard(file.tell())
                if text.strip():
                    yield number, text.decode()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise RecordingError(f"{path}: cannot be read: {error}") from error


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
