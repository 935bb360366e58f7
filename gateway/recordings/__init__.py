"""Recorded sessions: one module a form, told apart by the lines of a file.

file ─lines→ Form.read → Session* ─Copies→ ─replaying, learning→ what would have been saved; rules
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path

from gateway.recordings import chat, claude_code, codex
from gateway.recordings.copies import Copies
from gateway.recordings.lines import PACKED, plain_name, read_lines
from gateway.recordings.session import Form, Note, RecordingError, Session, value_of

__all__ = ["FORMS", "Copies", "Note", "RecordingError", "Session", "files_in", "plain_name", "read_sessions"]

FORMS: dict[str, Form] = {"Claude Code": claude_code, "Codex": codex, "chat messages": chat}
"""In the order in which they are asked; the last one says what is wrong with a file that is none."""
HEAD = 30
"""Lines in which a file has to say what it is."""

_ENDINGS = ("*.jsonl", *(f"*.jsonl{ending}" for ending in PACKED))


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
    """The sessions of a file, which may be packed, as they are read.

    `heard` is told how many bytes have been read, `note` which lines an agent's file holds that are not understood.
    Raises `RecordingError`.
    """
    lines = read_lines(path, heard or (lambda size: None))
    head: list[tuple[int, bytes]] = []
    form = None
    for line in islice(lines, HEAD):
        head.append(line)
        value = value_of(line[1])
        form = next((form for form in FORMS.values() if form.is_form(value)), None)
        if form:
            break
    if head:
        yield from (form or chat).read(chain(head, lines), path, note or (lambda words: None))
