"""What one exchange becomes on disk: redacted, compressed rows, each content once by its digest."""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

import re2

from memory import audit
from memory.canon import canonical, digest, message_hash
from memory.errors import StoreCorrupt
from memory.redaction import redact_record
from memory.types import ExchangeRecord, Message

LEVEL = 1
"""Of compression: a third more bytes than by the usual one, for a quarter of the time."""

BLOB = 2048
"""Characters from which a base64 string is kept apart from its message."""

_BASE64 = re2.compile(rb"[A-Za-z0-9+/_-]{64,}={0,2}", options=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """One text of bytes: what is left of it without its blobs, and where they stood."""

    digest: str
    """Of the whole, blobs included."""
    data: bytes
    """Compressed."""
    blobs: tuple[tuple[int, str, bytes], ...]
    """(place in what is left, digest, compressed data), in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """One text of a rewrite. Its salt goes with it when it is forgotten, so that nobody can guess at it."""

    part: str
    recall: str | None
    salt: bytes
    data: bytes
    """Compressed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A record that is ready to be written."""

    record: ExchangeRecord
    """Redacted."""
    contents: tuple[Content, ...]
    messages: tuple[tuple[str, str | None, str, str | None, bool], ...]
    """(hash, parent, role, content, exact): exact where the hash is that of the content, as nothing was redacted."""
    head: str | None
    rewrites: tuple[tuple[str, tuple[Text, ...]], ...]
    """(facts, texts)"""


def strip(record: ExchangeRecord, known: Set[str], head_known: bool = False) -> ExchangeRecord:
    """The record without the contents that are stored already."""
    messages = tuple(_strip(message, known) for message in record.messages)
    return replace(record, messages=messages, head=b"" if head_known else record.head)


def _strip(message: Message, known: Set[str]) -> Message:
    if message.hash not in known:
        return message
    return Message(hash=message.hash, parent=message.parent, role=message.role, content=b"")


def prepare(records: Sequence[ExchangeRecord]) -> list[Prepared]:
    """Redact, compress and name everything. A message without content is one that is stored already."""
    return [_prepare(record) for record in records]


def _prepare(raw: ExchangeRecord) -> Prepared:
    record = redact_record(raw)
    rows, contents = [], []
    for message in (*record.messages, *((record.reply,) if record.reply else ())):
        content = pack(message.content) if message.content else None
        if content:
            contents.append(content)
        rows.append(
            (message.hash, message.parent, message.role, content.digest if content else None, _is_exact(message))
        )
    head = pack(record.head) if record.head else None
    return Prepared(
        record=record,
        contents=(*contents, *((head,) if head else ())),
        messages=tuple(rows),
        head=head.digest if head else None,
        rewrites=tuple(_facts(record, at) for at in range(len(record.rewrites))),
    )


def _is_exact(message: Message) -> bool:
    return bool(message.content) and message_hash(message.parent, message.content) == message.hash


def pack(content: bytes) -> Content:
    """Take the blobs out and compress the rest."""
    left, blobs, at, size = [], [], 0, 0
    for match in _BASE64.finditer(content):
        start, end = match.span()
        if end - start < BLOB:
            continue
        left.append(content[at:start])
        size += start - at
        blob = content[start:end]
        blobs.append((size, digest(blob), zlib.compress(blob, LEVEL)))
        at = end
    data = zlib.compress(b"".join((*left, content[at:])) if left else content, LEVEL)
    return Content(digest=digest(content), data=data, blobs=tuple(blobs))


def inflate(data: bytes) -> bytes:
    """What was compressed. Raises `StoreCorrupt`."""
    try:
        return zlib.decompress(data)
    except zlib.error as error:
        raise StoreCorrupt(f"a row of the archive is damaged ({error}); see what `audit verify` says") from error


def unpack(data: bytes, blobs: Sequence[tuple[int, bytes]]) -> bytes:
    """The content again, from what was left and its blobs in order."""
    left = inflate(data)
    out, at = [], 0
    for place, blob in blobs:
        out += [left[at:place], inflate(blob)]
        at = place
    return b"".join((*out, left[at:]))


def _facts(record: ExchangeRecord, at: int) -> tuple[str, tuple[Text, ...]]:
    rewrite = record.rewrites[at]
    named: list[tuple[str, str | None, str]] = [
        ("command", None, rewrite.command),
        ("before", None, rewrite.before),
        ("after", None, rewrite.after),
    ]
    named += [("omitted", recall, text) for recall, text in rewrite.omissions]
    texts = tuple(
        Text(part=part, recall=recall, salt=os.urandom(16), data=zlib.compress(text.encode(), LEVEL))
        for part, recall, text in named
    )
    seals = [audit.seal(text.salt, plain.encode()) for text, (_, _, plain) in zip(texts, named, strict=True)]
    facts = {
        "exchange": record.id,
        "session": record.session,
        "tenant": record.tenant,
        "time": record.ended,
        "key": rewrite.key,
        "tool": rewrite.tool,
        "rules": [list(rule) for rule in rewrite.rules],
        "tokens_before": rewrite.tokens_before,
        "tokens_after": rewrite.tokens_after,
        "texts": [[text.part, text.recall, seal] for text, seal in zip(texts, seals, strict=True)],
    }
    return canonical(facts).decode(), texts
