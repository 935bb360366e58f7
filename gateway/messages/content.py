"""What the messages of all forms are made of: texts, other parts, calls; and the name of what is said with them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from gateway.framings import Role
from gateway.spans import Member, by_value, elements, members, string
from gateway.types import Call, Message, Text


@dataclass(frozen=True, slots=True)
class Content:
    """A content (a string, or a list of parts), read."""

    texts: tuple[Text, ...] = ()
    others: tuple[bytes, ...] = ()
    """What is no text, as bytes."""
    broken: str | None = None
    """What is wrong with it."""


NOTHING = Content()


def text_of(raw: bytes, member: Member | None) -> str | None:
    """The string that a member holds; `None` if there is none, or it is none."""
    return string(raw, member.start, member.end) if member else None


def read_text(raw: bytes, start: int, end: int, role: Role, call: str | None, exit_code: int | None = None) -> Content:
    """The JSON string at ``raw[start:end]``."""
    value = string(raw, start, end)
    if value is None:
        return Content(others=(raw[start:end],), broken="lone surrogate")
    return Content(texts=(Text(start=start, end=end, value=value, role=role, call=call, exit_code=exit_code),))


def read_content(
    raw: bytes,
    content: Member | None,
    types: Sequence[bytes],
    role: Role,
    call: str | None,
    exit_code: int | None = None,
) -> Content:
    """A content whose parts of one of these types (as JSON strings), or of none, hold text for the model under `text`."""
    if content is None or raw[content.start : content.end] == b"null":
        return NOTHING
    first = raw[content.start : content.start + 1]
    if first == b'"':
        return read_text(raw, content.start, content.end, role, call, exit_code)
    if first != b"[":
        return Content(others=(raw[content.start : content.end],))
    return join(
        _part(raw, start, end, types, role, call, exit_code) for start, end in elements(raw, content.start, content.end)
    )


def join(parts: Iterable[Content]) -> Content:
    """Contents one after the other."""
    listed = list(parts)
    return Content(
        texts=tuple(text for part in listed for text in part.texts),
        others=tuple(other for part in listed for other in part.others),
        broken=next((part.broken for part in listed if part.broken), None),
    )


def _part(
    raw: bytes, start: int, end: int, types: Sequence[bytes], role: Role, call: str | None, exit_code: int | None
) -> Content:
    found, twice = members(raw, start, end) if raw[start : start + 1] == b"{" else ([], False)
    text = next((m for m in found if m.key == "text"), None)
    plain = all(raw[m.start : m.end] in types for m in found if m.key == "type")
    if text is None or raw[text.start : text.start + 1] != b'"' or not plain:
        return Content(others=(raw[start:end],))
    got = read_text(raw, text.start, text.end, role, call, exit_code)
    return Content(got.texts, got.others, got.broken or ("duplicate key" if twice else None))


def message(
    raw: bytes,
    *,
    role: str,
    names: Sequence[str],
    content: Content,
    calls: tuple[Call, ...],
    observed: bool,
    twice: bool,
) -> Message:
    """The message `raw`. `names` tell it from others that say the same; `observed`: its texts may be tool output."""
    broken = "duplicate key" if twice else content.broken
    words = "\n".join([t.value for t in content.texts] + [f"{c.tool} {c.arguments}" for c in calls])
    return Message(
        role=role,
        canonical=_canonical(raw, names, content, calls, broken),
        raw=blake2b(raw, digest_size=16).digest(),
        words=words,
        texts=content.texts if observed and not broken else (),
        calls=calls,
        broken=broken,
    )


def _canonical(
    raw: bytes, names: Sequence[str], content: Content, calls: tuple[Call, ...], broken: str | None
) -> bytes:
    """Digest of what the message says; of its bytes where it cannot be read."""
    digest = blake2b(digest_size=16)
    if broken:
        digest.update(b"raw\0" + raw)
        return digest.digest()
    for part in (*names, *(t.value for t in content.texts if t.value)):
        _feed(digest, part.encode("utf-8", "surrogatepass"))
    for other in content.others:
        _feed(digest, other)
    for call in calls:
        _feed(digest, f"{call.id}\0{call.tool}\0{by_value(call.arguments)}".encode("utf-8", "surrogatepass"))
    return digest.digest()


def _feed(digest: blake2b, part: bytes) -> None:
    digest.update(len(part).to_bytes(8, "big") + part)


def loads(raw: bytes, member: Member | None) -> object:
    """The value that a member holds, by Python's reader, which takes what clients send; `None` if it cannot be read."""
    if member is None:
        return None
    try:
        return json.loads(raw[member.start : member.end])
    except (ValueError, RecursionError):
        return None
