"""The monthly zips: a new one takes the place of the old in one step, after all of it was read back."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, BinaryIO

from memory.L4_raw_sessions.files import make_folder, settle
from memory.L4_raw_sessions.places import Places, zip_name

LIMIT = 1 << 30
"""Bytes after which a month goes on in another zip."""

BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError)
"""What reading a damaged zip raises."""

_DRAFT = ".draft"


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """A file that is to become a member."""

    member: str
    path: Path
    sha256: str
    time: float
    facts: dict[str, Any]
    """Stand beside the member in the zip, so that an index can be made from it alone."""


def current(places: Places, month: str) -> str:
    """The zip that a month's new members go into."""
    zips = places.zips(month)
    if not zips:
        return zip_name(month, 1)
    last = zips[-1]
    number = int(last.stem.partition("_")[2] or 1)
    return last.name if last.stat().st_size < LIMIT else zip_name(month, number + 1)


def add(places: Places, name: str, additions: Sequence[Addition]) -> list[str]:
    """Put members into a zip; one that is there with the same content stays. Returns notes for the report."""
    path = places.folder / name
    draft = _fresh(path.with_name(name + _DRAFT))
    notes = []
    if path.exists() and (trouble := find_trouble(path)):
        notes.append(_mend(places, path, draft, trouble))
    elif path.exists():
        shutil.copyfile(path, draft)
    with zipfile.ZipFile(draft, "a", zipfile.ZIP_DEFLATED) as archive:
        present = set(archive.namelist())
        for addition in additions:
            if addition.member not in present:
                _write(archive, addition)
    _publish(draft, path)
    return notes


def find_trouble(path: Path) -> str | None:
    """What is wrong with a zip."""
    try:
        with zipfile.ZipFile(path) as archive:
            bad = archive.testzip()
    except BROKEN as error:
        return str(error)
    return f"its member {bad} is damaged" if bad else None


def read_back(path: Path, members: Iterable[str]) -> dict[str, tuple[str, int]]:
    """SHA-256 and packed size of those members that can be read."""
    out: dict[str, tuple[str, int]] = {}
    try:
        with zipfile.ZipFile(path) as archive:
            for member in members:
                try:
                    with archive.open(member) as file:
                        out[member] = (digest_of(file), archive.getinfo(member).compress_size)
                except (*BROKEN, KeyError):
                    continue
    except (*BROKEN, FileNotFoundError):
        return out
    return out


def digest_member(path: Path, member: str) -> str | None:
    """SHA-256 of a member; `None` if it cannot be read."""
    return read_back(path, [member]).get(member, (None, 0))[0]


def digest_of(file: IO[bytes]) -> str:
    """SHA-256 of what is left of a file."""
    digest = hashlib.sha256()
    while data := file.read(1 << 20):
        digest.update(data)
    return digest.hexdigest()


@contextmanager
def open_member(path: Path, member: str) -> Iterator[IO[bytes]]:
    """A member to read."""
    with zipfile.ZipFile(path) as archive, archive.open(member) as file:
        yield file


@contextmanager
def extracted(path: Path, member: str) -> Iterator[BinaryIO]:
    """A member in a file of its own, in which one can go back. Raises one of `BROKEN`."""
    with TemporaryFile() as copy, open_member(path, member) as file:
        shutil.copyfileobj(file, copy, 1 << 20)
        copy.seek(0)
        yield copy


def packed_sizes(path: Path) -> dict[str, int]:
    """Bytes that each member takes in a zip."""
    with zipfile.ZipFile(path) as archive:
        return {info.filename: info.compress_size for info in archive.infolist()}


def facts_of(path: Path) -> dict[str, dict[str, Any]]:
    """What stands beside each member of a zip. Raises one of `BROKEN`."""
    with zipfile.ZipFile(path) as archive:
        return {info.filename: _parse(info.comment) for info in archive.infolist()}


def sweep(places: Places) -> None:
    """Remove the drafts of runs that were cut off."""
    for draft in places.folder.glob("*.zip" + _DRAFT):
        draft.unlink()


def _write(archive: zipfile.ZipFile, addition: Addition) -> None:
    at = datetime.fromtimestamp(addition.time, UTC)
    year = min(max(at.year, 1980), 2107)  # other years cannot be said in a zip
    info = zipfile.ZipInfo(addition.member, (year, at.month, at.day, at.hour, at.minute, at.second))
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o600 << 16
    info.file_size = addition.path.stat().st_size
    info.comment = json.dumps(addition.facts).encode()
    with addition.path.open("rb") as source, archive.open(info, "w") as target:
        shutil.copyfileobj(source, target, 1 << 20)


def _publish(draft: Path, path: Path) -> None:
    if trouble := find_trouble(draft):
        raise OSError(f"{draft}: the zip that was just written cannot be read back: {trouble}; check the disk")
    settle(draft)
    os.replace(draft, path)
    settle(path.parent)


def _mend(places: Places, path: Path, draft: Path, trouble: str) -> str:
    """Put what can be read of a damaged zip into the draft of a new one, and a copy of the damaged one aside."""
    make_folder(places.quarantine)
    kept = next(p for k in range(1, 10_000) if not (p := places.quarantine / f"{path.name}.{k}").exists())
    shutil.copyfile(path, _fresh(kept))
    settle(kept)
    rescued = 0
    with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as new:
        for info, data in _readable(path):
            new.writestr(info, data)
            rescued += 1
    return f"{path.name} is damaged ({trouble}): put aside as {kept}, {rescued} members rescued"


def _fresh(path: Path) -> Path:
    """An empty file that only its owner can read; whoever fills it leaves that as it is."""
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    return path


def _readable(path: Path) -> Iterator[tuple[zipfile.ZipInfo, bytes]]:
    try:
        archive = zipfile.ZipFile(path)
    except BROKEN:
        return
    with archive:
        for info in archive.infolist():
            try:
                data = archive.read(info)
            except BROKEN:
                continue
            yield info, data


def _parse(comment: bytes) -> dict[str, Any]:
    try:
        facts = json.loads(comment)
    except ValueError:
        return {}
    return facts if isinstance(facts, dict) else {}
