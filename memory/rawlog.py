"""The raw logs: one file a session, each exchange appended once, redacted, with only those messages that are new in it.

A file may be sealed at any time, by renaming it under its lock; what is written later begins a new one, which says by `base`
which message of an earlier part it goes on from.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import json
import os
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from memory.canon import digest
from memory.errors import StoreError
from memory.L4_raw_sessions.exchanges import read_exchanges
from memory.L4_raw_sessions.sections import put, read_sections
from memory.redaction import redact_record
from memory.roots import raw_folder, root_of
from memory.types import ExchangeRecord, Message

REMEMBERED = 500
"""Logs whose content is known without reading them again."""


@dataclass(slots=True)
class _Known:
    """What a log holds, up to a size."""

    inode: int
    size: int = 0
    messages: set[int] = field(default_factory=set)
    """Hashes of their names, which are half as large."""
    heads: set[str] = field(default_factory=set)
    exchanges: set[str] = field(default_factory=set)


class Takes(Protocol):
    """Keeps exchanges, as an archive does."""

    async def append(self, records: Sequence[ExchangeRecord]) -> None:
        """Store all of them or, on `StoreError`, be given all of them again. What is stored already stays as it is."""


class Logged:
    """An archive whose exchanges are written into the raw logs, too."""

    def __init__(self, archive: Takes, log: RawLog) -> None:
        self._archive = archive
        self._log = log

    async def append(self, records: Sequence[ExchangeRecord]) -> None:
        """Store them in both; after a `StoreError` append all of them again."""
        redacted = await asyncio.to_thread(_redact, records)
        await self._archive.append(redacted)
        await asyncio.to_thread(self._log.append, redacted)


def _redact(records: Sequence[ExchangeRecord]) -> list[ExchangeRecord]:
    """Once for both; each would do it by itself."""
    return list(map(redact_record, records))


class RawLog:
    """The raw logs below one data folder. Only one caller at a time; other processes may write the same files."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._known: OrderedDict[Path, _Known] = OrderedDict()

    def append(self, records: Sequence[ExchangeRecord]) -> None:
        """Write exchanges, those that are not in their logs yet. After a `StoreError` some may be; append all again."""
        logs: dict[Path, list[ExchangeRecord]] = {}
        for record in records:
            logs.setdefault(self.path(record.tenant, record.session), []).append(record)
        for path, own in logs.items():
            try:
                with _opened(path) as file:
                    self._append(path, file, own)
            except OSError as error:
                self._known.pop(path, None)
                raise StoreError(f"{path}: {error.strerror}; look for space and rights on that disk") from error

    def path(self, tenant: str, session: str) -> Path:
        """Where the log of a session is, or will be."""
        name = sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        return raw_folder(root_of(self._data, tenant)) / f"model_responses_{name}.txt"

    def _append(self, path: Path, file: int, records: Sequence[ExchangeRecord]) -> None:
        known = self._look(path, file)
        out = [] if _ends_whole(file, known.size) else [b"\n"]
        for record in records:
            if _key(record) not in known.exchanges:
                out += _sections(record, known)
        data = b"".join(out)
        try:
            _write(file, data)
        except OSError:
            os.ftruncate(file, known.size)
            raise
        known.size += len(data)
        self._known[path] = known
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)

    def _look(self, path: Path, file: int) -> _Known:
        """What the log holds; only what others have added is read."""
        status = os.fstat(file)
        known = self._known.pop(path, None)
        if known is None or known.inode != status.st_ino or known.size > status.st_size:
            known = _Known(inode=status.st_ino)
        if known.size < status.st_size:
            with open(path, "rb") as log:
                log.seek(known.size)
                for exchange in read_exchanges(read_sections(log)):
                    known.messages.update(map(hash, exchange.names))
                    known.heads.add(exchange.head_name)
                    if exchange.id is not None:
                        known.exchanges.add(exchange.key)
            known.size = status.st_size
        return known


def _key(record: ExchangeRecord) -> str:
    return f"{record.id}@{record.started!r}"


def _sections(raw: ExchangeRecord, known: _Known) -> tuple[bytes, bytes]:
    """The two sections of an exchange, without the messages that the log holds already."""
    head_name = digest(raw.head) if raw.head else ""
    messages = tuple(message for message in raw.messages if hash(message.hash) not in known.messages)
    base = messages[0].parent if messages else raw.tip
    head = b"" if head_name in known.heads else raw.head
    record = redact_record(replace(raw, messages=messages, head=head))
    known.messages.update(hash(message.hash) for message in messages)
    known.heads.add(head_name)
    known.exchanges.add(_key(raw))
    fields = {"at": repr(record.started), "id": record.id, "session": record.session}
    prompt = put("Prompt", record.started, _prompt(record, base, head_name), **fields)
    model = {"model": record.model or "-", "id": record.id}
    return prompt, put("Response", record.ended, _response(record), **model)


def _prompt(record: ExchangeRecord, base: str | None, head_name: str) -> bytes:
    facts = {
        **_plain(record, "session", "parent_session", "tenant", "method", "path", "shape", "upstream", "model"),
        **_plain(record, "stream", "retry"),
        "base": base,
        "names": [message.hash for message in record.messages],
        "head_name": head_name,
    }
    parts = [json.dumps(facts).encode()[:-1]]
    if record.head:
        parts.append(b', "head": ' + _one_line(record.head))
    parts.append(b', "messages": [' + b", ".join(_one_line(message.content) for message in record.messages) + b"]}")
    return b"".join(parts)


def _response(record: ExchangeRecord) -> bytes:
    reply: Message | None = record.reply
    facts = {
        **_plain(record, "status", "outcome", "error", "started", "first_byte", "ended"),
        "usage": None if record.reported is None else dict(record.reported),
        "kept": dict(record.kept),
        "rewrites": [rewrite.key for rewrite in record.rewrites],
        "name": reply.hash if reply else None,
    }
    message = _one_line(reply.content) if reply else b"null"
    return json.dumps(facts).encode()[:-1] + b', "message": ' + message + b"}"


def _plain(record: ExchangeRecord, *names: str) -> dict[str, object]:
    return {name: getattr(record, name) for name in names}


def _one_line(content: bytes) -> bytes:
    """JSON without line breaks; what is no JSON becomes a string of it."""
    if b"\n" not in content and b"\r" not in content and content:
        return content
    try:
        json.loads(content)
    except ValueError:
        return json.dumps(content.decode("utf-8", "replace")).encode()
    return content.replace(b"\n", b" ").replace(b"\r", b" ")  # in a string they are escaped


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    """The log, locked: a run that would seal it waits, and one that was sealed a moment ago is left alone."""
    while True:
        file = _open(path)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            if _is_at(path, file):
                yield file
                return
        finally:
            os.close(file)


def _open(path: Path) -> int:
    how = os.O_CREAT | os.O_RDWR | os.O_APPEND
    try:
        return os.open(path, how, 0o600)
    except FileNotFoundError:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(path, how, 0o600)


def _is_at(path: Path, file: int) -> bool:
    try:
        return os.stat(path).st_ino == os.fstat(file).st_ino
    except FileNotFoundError:
        return False


def _ends_whole(file: int, size: int) -> bool:
    """A line that a crash has torn must not spoil the next one."""
    return size == 0 or os.pread(file, 1, size - 1) == b"\n"


def _write(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        written = os.write(file, view)
        if not written:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        view = view[written:]
