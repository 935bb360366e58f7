"""Changes to what is archived: members out of a zip or new in their place, blocks and lines out of the histories.

A new file takes the place of the old one in one step, after it was read back.
"""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import IO, Any, BinaryIO

from memory.errors import StoreError
from memory.L4_raw_sessions.files import settle
from memory.L4_raw_sessions.zips import extracted, find_trouble

Change = Callable[[BinaryIO, IO[bytes]], Mapping[str, Any]]
"""Reads a member, writes what is to stand in its place, and says what then stands beside it."""


def rewrite_zip(path: Path, changes: Mapping[str, Change | None]) -> None:
    """Change some members; `None` takes one out. A zip with nothing left in it goes."""
    draft = path.with_name(path.name + ".draft")
    draft.unlink(missing_ok=True)
    draft.touch(mode=0o600)
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as new:
        for info in old.infolist():
            change = changes.get(info.filename, _keep)
            if change is not None:
                _copy(path, info, new, change)
        left = len(new.namelist())
    if left:
        _publish(draft, path)
    else:
        draft.unlink()
        path.unlink()
        settle(path.parent)


def _keep(source: BinaryIO, target: IO[bytes]) -> Mapping[str, Any]:
    shutil.copyfileobj(source, target, 1 << 20)
    return {}


def _copy(path: Path, info: zipfile.ZipInfo, archive: zipfile.ZipFile, change: Change) -> None:
    copy = zipfile.ZipInfo(info.filename, info.date_time)
    copy.compress_type, copy.external_attr, copy.comment = zipfile.ZIP_DEFLATED, info.external_attr, info.comment
    with extracted(path, info.filename) as source, archive.open(copy, "w", force_zip64=True) as target:
        facts = change(source, target)
    if facts:
        copy.comment = json.dumps(dict(facts)).encode()  # it is written at the end, when the archive is closed


def _publish(draft: Path, path: Path) -> None:
    if trouble := find_trouble(draft):
        raise StoreError(f"{draft}: the zip that was just written cannot be read back: {trouble}; check the disk")
    replace(draft, path)


def replace(draft: Path, path: Path) -> None:
    """Let a file that is whole take the place of another."""
    settle(draft)
    os.replace(draft, path)
    settle(path.parent)


def blank_blocks(path: Path, spots: Iterable[tuple[int, int]]) -> None:
    """Put empty lines in the place of blocks, given by offset and size: all others stay where they are."""
    spots = list(spots)
    if not spots:
        return
    draft = path.with_name(path.name + ".draft")
    shutil.copyfile(path, draft)
    draft.chmod(0o600)
    with draft.open("r+b") as file:
        for at, size in spots:
            file.seek(at)
            file.write(b"\n" * size)
    replace(draft, path)


def rewrite_lines(path: Path, change: Callable[[bytes], bytes]) -> int:
    """Change lines of a file, none of which gets another length; how many were changed."""
    if not path.exists():
        return 0
    draft, changed = path.with_name(path.name + ".draft"), 0
    with path.open("rb") as old, open(os.open(draft, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as new:
        for line in old:
            other = change(line)
            changed += other != line
            new.write(other)
    if changed:
        replace(draft, path)
    else:
        draft.unlink()
    return changed
