"""Files that are there whole or not at all, moved and never lost on the way."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FULL = (errno.ENOSPC, errno.EDQUOT)
"""What the system says where a disk is full."""


def make_folder(path: Path) -> None:
    """A folder that only its owner can read."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)


def settle(path: Path) -> None:
    """Return when a file, or the names in a folder, survive a loss of power."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def move(source: Path, target: Path) -> None:
    """Move a file, to another disk as well: it is at one of the two places, whole, at any time."""
    make_folder(target.parent)
    try:
        os.rename(source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        draft = target.with_name(f"{target.name}.moving")
        shutil.copy2(source, draft)
        settle(draft)
        os.replace(draft, target)
        settle(target.parent)
        os.unlink(source)


@contextmanager
def lease(path: Path) -> Iterator[bool]:
    """Try to be the only run: yields whether it is. The lease ends with the block, or with the process that holds it."""
    make_folder(path.parent)
    file = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        yield False
        return
    try:
        yield True
    finally:
        os.close(file)


def is_held(path: Path) -> bool:
    """Whether a run is under way."""
    try:
        file = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False
