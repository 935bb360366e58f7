"""The form of a raw log: sections under marker lines. Written by us a body is one line of JSON, and its marker seals it.

    === Prompt === 2026-04-03 20:13:13 len=812 sha=5d41402abc4b2a76 at=1775247193.25 id=6f1c session=s-1
    {"base":null,"names":[…],"messages":[…]}

    === Response === 2026-04-03 20:13:20 len=204 sha=7d793037a0760186 model=small
    {"message":{…},"usage":{…}}

Logs of others have free text under `=== Prompt ===`, `=== USER ===`, `=== ASSISTANT ===` and `=== Response ===`. There a line of
the text may look like a marker, so that nothing is left out because of where it seems to stand.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256
from typing import BinaryIO
from urllib.parse import quote, unquote

_MARK = re.compile(rb"=== (?:(Prompt|Response) ===(?: (.*?))?|(USER|ASSISTANT) ===)\r?\n?")
_REST = re.compile(rb"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)((?: \w+=\S*)*)(?: .*)?")
SAFE = "/:@+,.-_"
"""Characters that stand for themselves in the values of a marker."""

_SEAL = 16


@dataclass(frozen=True)
class Section:
    """A marker line and what stands below it, byte for byte; all of them one after the other are the file."""

    head: bytes
    """The marker line; b"" for what stands before the first one."""
    body: bytes

    @cached_property
    def kind(self) -> str:
        """Prompt, USER, ASSISTANT, Response, or nothing."""
        match = _MARK.fullmatch(self.head)
        return (match[1] or match[3]).decode() if match else ""

    @cached_property
    def time(self) -> float | None:
        """When, where the marker says so. A zone is not said: it is taken for UTC."""
        match = _rest(self.head)
        try:
            return datetime.fromisoformat(match[1].decode()).replace(tzinfo=UTC).timestamp() if match else None
        except ValueError:
            return None

    @cached_property
    def fields(self) -> Mapping[str, str]:
        """What else the marker says."""
        match = _rest(self.head)
        pairs = (pair.partition("=") for pair in match[2].decode(errors="replace").split()) if match else ()
        return {name: unquote(value) for name, _, value in pairs}

    @cached_property
    def sealed(self) -> bytes | None:
        """The JSON of a section of ours that is whole."""
        size = self.fields.get("len", "")
        data = self.body[: int(size)] if size.isdigit() and len(size) < 16 else None
        return data if data is not None and seal(data) == self.fields.get("sha") else None


def put(kind: str, time: float, body: bytes, **fields: str) -> bytes:
    """A section of ours; its body is one line of JSON."""
    said = "".join(f" {name}={quote(value, safe=SAFE)}" for name, value in fields.items())
    stamp = datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M:%S")
    return f"=== {kind} === {stamp} len={len(body)} sha={seal(body)}{said}\n".encode() + body + b"\n\n"


def seal(body: bytes) -> str:
    """What a marker says of the body below it."""
    return sha256(body).hexdigest()[:_SEAL]


def read_sections(file: BinaryIO) -> Iterator[Section]:
    """The sections of a log from where the file stands, one at a time in memory."""
    start = file.tell()
    end = file.seek(0, os.SEEK_END)
    file.seek(start)
    opened, parts = Section(b"", b""), list[bytes]()
    while line := file.readline():
        if not line.startswith(b"=== ") or _MARK.fullmatch(line) is None:
            parts.append(line)
            continue
        if opened.head or parts:
            yield _closed(opened, parts)
        opened, parts = _sealed_body(file, Section(line, b""), end), []
    if opened.head or parts:
        yield _closed(opened, parts)


def _sealed_body(file: BinaryIO, marker: Section, end: int) -> Section:
    """A body that its marker seals is taken whole, whatever it looks like."""
    size = marker.fields.get("len", "")
    at = file.tell()
    if not size.isdigit() or len(size) > 15 or int(size) > end - at:
        return marker
    section = Section(marker.head, file.read(int(size)))
    if section.sealed is not None:
        return section
    file.seek(at)
    return marker


def _closed(opened: Section, parts: list[bytes]) -> Section:
    """The section with all that was found below its marker; what was read off the marker need not be read again."""
    section = Section(opened.head, b"".join((opened.body, *parts)))
    vars(section).update({name: value for name, value in vars(opened).items() if name not in ("head", "body")})
    return section


def _rest(head: bytes) -> re.Match[bytes] | None:
    match = _MARK.fullmatch(head)
    return _REST.fullmatch(match[2]) if match and match[2] else None
