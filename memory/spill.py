"""Where exchanges wait that the store could not take: one append-only file a process, replayed later.

A file is locked while the process that writes it lives; one that nobody locks is replayed by whoever finds it.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import zlib
from base64 import b64decode, b64encode
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

import msgspec

from memory.redaction import redact_record
from memory.rows import strip
from memory.types import ExchangeRecord

FOLDER = "spill"
"""In the data folder."""
SUFFIX = ".spill"

UNREAD = ".unread"
"""What is added to the name of a file with a line that this version cannot read; it is kept for a person to look at."""

_VERSION = b"1:"

_BATCH = 20

Take = Callable[[Sequence[ExchangeRecord]], Awaitable[None]]


class Spill:
    """The spill files of one folder. Only one caller at a time; `append` may be called from a thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: int | None = None
        self._size = 0
        self._written: dict[str, set[str]] = {}

    def append(self, record: ExchangeRecord) -> None:
        """Write a record, redacted, so that it survives this process. After an `OSError` it is not in the file."""
        # A session by itself: whoever takes it may know nothing of the others.
        written = self._written.setdefault(record.session, set())
        stripped = strip(record, written)
        line = _encode(redact_record(stripped))
        if self._file is None:
            self._file, self._size = self._create(), 0
        try:
            _write(self._file, line)
        except OSError:
            # Half a line would spoil the next one.
            os.ftruncate(self._file, self._size)
            raise
        self._size += len(line)
        written.update(message.hash for message in stripped.messages if message.content)

    async def replay(self, take: Take) -> int:
        """Give `take` all that waits, of this process and of dead ones; how many records it took.

        A file goes away when all of it was taken. What `take` raises ends the replay, and the file stays.
        """
        self.close()
        taken = 0
        for path in self._waiting():
            file = _adopt(path)
            if file is None:
                continue
            try:
                taken += await _replay(path, file, take)
            finally:
                os.close(file)
        return taken

    def left(self) -> list[Path]:
        """Files that wait on: another process holds them, or they cannot be read."""
        return [*self._waiting(), *sorted(self._folder.glob(f"*{SUFFIX}{UNREAD}"))]

    def close(self) -> None:
        """Let go of the file; what is in it waits for the next replay, here or in another process."""
        if self._file is not None:
            os.close(self._file)
        self._file = None
        self._written = {}

    def _create(self) -> int:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for number in count():
            path = self._folder / f"{os.getpid()}-{number}{SUFFIX}"
            try:
                file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND, 0o600)
            except FileExistsError:
                continue
            if _lock(file):
                return file
            os.close(file)
        raise AssertionError

    def _waiting(self) -> list[Path]:
        try:
            return sorted(self._folder.glob(f"*{SUFFIX}"), key=lambda path: path.stat().st_mtime_ns)
        except FileNotFoundError:
            # Another process has just replayed one of them, and will replay the others.
            return []


async def _replay(path: Path, file: int, take: Take) -> int:
    taken, unread = 0, False
    batch: list[ExchangeRecord] = []
    for line in _lines(file):
        record = _decode(line)
        if record is None:
            unread = True
            continue
        batch.append(record)
        if len(batch) == _BATCH:
            await take(batch)
            taken += len(batch)
            batch = []
    if batch:
        await take(batch)
    _finish(path, unread)
    return taken + len(batch)


def _finish(path: Path, unread: bool) -> None:
    if unread:
        path.rename(path.with_name(path.name + UNREAD))
    else:
        path.unlink()


def _adopt(path: Path) -> int | None:
    try:
        file = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return None
    if _lock(file):
        return file
    os.close(file)
    return None


def _lock(file: int) -> bool:
    """Hold the file; not if another process does, or has replayed and removed it a moment ago."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return os.fstat(file).st_nlink > 0


def _lines(file: int) -> Iterator[bytes]:
    with os.fdopen(os.dup(file), "rb") as lines:
        for line in lines:
            # A line without an end was torn by a crash, before anybody was told that it is safe.
            if line.endswith(b"\n"):
                yield line[:-1]


def _write(file: int, line: bytes) -> None:
    if os.write(file, line) != len(line):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _encode(record: ExchangeRecord) -> bytes:
    # By way of `json`, which takes the lone surrogates of what a provider reported.
    data = json.dumps(msgspec.to_builtins(record, enc_hook=dict)).encode()
    return _VERSION + b64encode(zlib.compress(data)) + b"\n"


def _decode(line: bytes) -> ExchangeRecord | None:
    if not line.startswith(_VERSION):
        return None
    try:
        data = zlib.decompress(b64decode(line[len(_VERSION) :], validate=True))
        record: ExchangeRecord = msgspec.convert(json.loads(data), ExchangeRecord)
    except (ValueError, zlib.error, msgspec.ValidationError):
        return None
    return replace(record, redacted=False)  # by an earlier version, perhaps
