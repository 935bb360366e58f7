"""From a raw log to what its zip will hold: echoes out, secrets out once more, exchanges that are in a zip already out.

Read twice, one exchange at a time in memory.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from memory.L4_raw_sessions.exchanges import Exchange, read_exchanges
from memory.L4_raw_sessions.sections import Section, put, read_sections
from memory.redaction import redact_json

_REDACTED = b"[redacted:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compressed:
    """What became of a raw log."""

    format: str
    """`json` or `raw`, as the first prompt has it."""
    session: str
    model: str | None
    started: float
    ended: float
    keys: tuple[tuple[str, str | None], ...]
    """(key, id) of each exchange, in order."""
    repeated: int
    """Exchanges that were left out, since a verified zip holds them."""
    messages: int
    size: int
    sha256: str
    raw_size: int
    raw_sha256: str
    redactions: int
    """Secrets that were found only now."""


@dataclass(slots=True, kw_only=True)
class Seen:
    """What a log tells of itself."""

    format: str
    session: str = ""
    model: str | None = None
    started: float = 0.0
    ended: float = 0.0
    keys: list[tuple[str, str | None]] = field(default_factory=list)
    messages: int = 0

    def hear(self, exchange: Exchange) -> None:
        """Take the next exchange."""
        self.session = self.session or exchange.session or ""
        self.keys.append((exchange.key, exchange.id))
        told = len(exchange.messages) + bool(exchange.response.get("message"))
        self.messages += told if exchange.id else sum(s.kind in ("USER", "Response") for s in exchange.sections)
        for section in exchange.sections:
            self.model = section.fields.get("model") or self.model
            if section.time is not None:
                self.started = min(section.time, self.started or section.time)
                self.ended = max(section.time, self.ended)


def survey(file: BinaryIO) -> Seen:
    """The same of a log that nothing is to be made of."""
    seen = Seen(format=_texts(_exchanges(file))[0])
    for exchange in _exchanges(file):
        seen.hear(exchange)
    return seen


def compress(source: Path, target: BinaryIO, is_archived: Callable[[str], bool] = lambda key: False) -> Compressed:
    """Write what is left of a raw log to `target`."""
    sink, repeated = _Sink(target), 0
    with source.open("rb") as file:
        raw_sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        raw_size = file.tell()
        format_, texts = _texts(exchange for exchange in _exchanges(file) if not is_archived(exchange.key))
        seen = Seen(format=format_)
        for exchange in _exchanges(file):
            if is_archived(exchange.key):
                repeated += 1
                continue
            seen.hear(exchange)
            sink.write(_kept(exchange.sections, texts) if format_ == "raw" else exchange.sections)
        modified = os.fstat(file.fileno()).st_mtime
    return Compressed(
        format=format_,
        session=seen.session or source.name.partition(".")[0],
        model=seen.model,
        started=seen.started or modified,
        ended=seen.ended or modified,
        keys=tuple(seen.keys),
        repeated=repeated,
        messages=seen.messages,
        size=sink.size,
        sha256=sink.digest.hexdigest(),
        raw_size=raw_size,
        raw_sha256=raw_sha256,
        redactions=sink.redactions,
    )


def compress_raw(text: str) -> str:
    """A log with free text, without the echoes of prompts: an ASSISTANT section goes if it says nothing, or nothing new."""
    file = io.BytesIO(text.encode("utf-8", "surrogatepass"))
    _, texts = _texts(_exchanges(file))
    kept = [section for exchange in _exchanges(file) for section in _kept(exchange.sections, texts)]
    return b"".join(section.head + section.body for section in kept).decode("utf-8", "surrogatepass")


class _Sink:
    """Where sections are written, and what was."""

    def __init__(self, target: BinaryIO) -> None:
        self._target = target
        self.size = self.redactions = 0
        self.digest = hashlib.sha256()

    def write(self, sections: Iterable[Section]) -> None:
        """Write sections, without secrets."""
        for section in sections:
            before = section.head + section.body
            data = _clean(section)
            self.redactions += max(0, data.count(_REDACTED) - before.count(_REDACTED))
            self._target.write(data)
            self.digest.update(data)
            self.size += len(data)


def _exchanges(file: BinaryIO) -> Iterator[Exchange]:
    file.seek(0)
    return read_exchanges(read_sections(file))


def _texts(exchanges: Iterable[Exchange]) -> tuple[str, frozenset[bytes]]:
    """The format, and digests of all texts that stay."""
    format_: str | None = None
    bodies = set()
    for exchange in exchanges:
        for section in exchange.sections:
            if section.kind == "Prompt" and format_ is None:
                if section.body.lstrip()[:1] == b"{":
                    return "json", frozenset()
                format_ = "raw"
            if section.kind != "ASSISTANT":
                bodies.add(_digest(section.body))
    return format_ or "raw", frozenset(bodies)


def _kept(sections: Iterable[Section], bodies: Container[bytes]) -> Iterator[Section]:
    for section in sections:
        if section.kind != "ASSISTANT" or (section.body.strip() and _digest(section.body) not in bodies):
            yield section


def _digest(body: bytes) -> bytes:
    return hashlib.sha256(body.strip()).digest()


def _clean(section: Section) -> bytes:
    """The section as it may be written: patterns may have been added since it was logged."""
    sealed, time = section.sealed, section.time
    if sealed is None or time is None:
        return redact_json(section.head) + redact_json(section.body)
    swept = redact_json(sealed)
    if swept == sealed:
        return section.head + section.body
    fields = {name: value for name, value in section.fields.items() if name not in ("len", "sha")}
    return put(section.kind, time, swept, **fields) + section.body[len(sealed) + 2 :]
