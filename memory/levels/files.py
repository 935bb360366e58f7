"""The files of the upper levels: read whole, replaced whole, by one writer at a time across processes."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from memory.errors import StoreCorrupt, StoreError
from memory.L4_raw_sessions.files import settle

LOCK = ".levels.lock"


@contextmanager
def writing(root: Path) -> Iterator[None]:
    """Be the only one that writes the levels of `root`. Raises `StoreError` where its folder cannot be used."""
    with translated(root):
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(root / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def read_text(path: Path) -> str:
    """The text of a file, "" where there is none."""
    with translated(path):
        try:
            return path.read_bytes().decode()
        except FileNotFoundError:
            return ""
        except UnicodeDecodeError as error:
            raise StoreCorrupt(f"{path}: is not UTF-8 at byte {error.start}; mend or move the file") from error


def replace_text(path: Path, text: str) -> None:
    """Put `text` in the place of a file, so that whoever reads it, now or after a crash, finds the old or the new."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.draft")
    with translated(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            _write(draft, text)
            draft.replace(path)
        except OSError:
            draft.unlink(missing_ok=True)
            raise
        settle(path.parent)


def append_lines(path: Path, lines: Sequence[str]) -> None:
    """Add to a file of lines; one that a crash tore is closed first, so that it spoils no other."""
    with translated(path), open(path, "a+b", opener=_private) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - 1, 0))
        torn = file.read(1) not in (b"", b"\n")
        file.write(b"\n" * torn + "".join(f"{line}\n" for line in lines).encode())
        file.flush()
        os.fsync(file.fileno())


def remove(path: Path) -> None:
    """Take a file away, if it is there."""
    with translated(path):
        path.unlink(missing_ok=True)
        settle(path.parent)


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """What the system says of a file, as an error of the store."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{path}: {error.strerror or error}; nothing was changed, free the disk or its rights"
        ) from error


def _write(path: Path, text: str) -> None:
    with open(path, "wb", opener=_private) as file:
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
