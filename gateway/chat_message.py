"""One message of a chat completion: its texts and where they stand, its calls, and what it says in whatever JSON."""

from __future__ import annotations

import json
from hashlib import blake2b

from gateway.errors import BadRequest
from gateway.spans import Member, by_value, elements, members, string
from gateway.types import Call, Message, Text


def read_message(raw: bytes, index: int) -> Message:
    """Read the object `raw`, the message at `index` of its request. Raises `BadRequest` without a role."""
    found, twice = members(raw, 0, len(raw))
    fields = {m.key: m for m in found}
    role = text_of(raw, fields.get("role"))
    if role is None:
        raise BadRequest(f"'messages[{index}].role' is not a string", param=f"messages[{index}].role")
    content = fields.get("content")
    texts, others, broken = _texts(raw, content, role, text_of(raw, fields.get("tool_call_id")))
    calls = _calls(raw, fields.get("tool_calls"))
    words = "\n".join([t.value for t in texts] + [f"{c.tool} {c.arguments}" for c in calls])
    if twice:
        broken = "duplicate key"
    return Message(
        role=role,
        canonical=_canonical(raw, role, fields, texts, others, calls, broken),
        raw=blake2b(raw, digest_size=16).digest(),
        words=words,
        texts=() if broken or role not in ("tool", "user", "function") else tuple(texts),
        calls=calls,
        broken=broken,
    )


def text_of(raw: bytes, member: Member | None) -> str | None:
    """The string that a member holds; `None` if there is none, or it is none."""
    return string(raw, member.start, member.end) if member else None


def _texts(
    raw: bytes, content: Member | None, role: str, call: str | None
) -> tuple[list[Text], list[bytes], str | None]:
    """Texts of a content (a string, or a list of parts), its other parts as bytes, and what is wrong with it."""
    if content is None or raw[content.start : content.end] == b"null":
        return [], [], None
    first = raw[content.start : content.start + 1]
    if first == b'"':
        return _text(raw, content.start, content.end, role, call)
    if first != b"[":
        return [], [raw[content.start : content.end]], None
    texts: list[Text] = []
    others: list[bytes] = []
    broken = None
    for start, end in elements(raw, content.start, content.end):
        part, twice = members(raw, start, end) if raw[start : start + 1] == b"{" else ([], False)
        text = next((m for m in part if m.key == "text"), None)
        if text is None or raw[text.start : text.start + 1] != b'"' or not _is_plain(raw, part):
            others.append(raw[start:end])
            continue
        got, _, wrong = _text(raw, text.start, text.end, role, call)
        texts += got
        broken = broken or wrong or ("duplicate key" if twice else None)
    return texts, others, broken


def _is_plain(raw: bytes, part: list[Member]) -> bool:
    """The part is text for the model: its type says so, or nothing says otherwise."""
    return all(raw[m.start : m.end] == b'"text"' for m in part if m.key == "type")


def _text(raw: bytes, start: int, end: int, role: str, call: str | None) -> tuple[list[Text], list[bytes], str | None]:
    value = string(raw, start, end)
    if value is None:
        return [], [raw[start:end]], "lone surrogate"
    return [Text(start=start, end=end, value=value, role="user" if role == "user" else "tool", call=call)], [], None


def _calls(raw: bytes, member: Member | None) -> tuple[Call, ...]:
    if member is None or raw[member.start : member.start + 1] != b"[":
        return ()
    try:
        listed = json.loads(raw[member.start : member.end])
    except (ValueError, RecursionError):
        return ()
    out = []
    for call in listed:
        if isinstance(call, dict):
            body = call.get("function") or call.get("custom") or {}
            arguments = body.get("arguments", body.get("input", "")) if isinstance(body, dict) else ""
            name = body.get("name", "") if isinstance(body, dict) else ""
            out.append(Call(id=str(call.get("id", "")), tool=str(name), arguments=str(arguments)))
    return tuple(out)


def _canonical(
    raw: bytes,
    role: str,
    fields: dict[str, Member],
    texts: list[Text],
    others: list[bytes],
    calls: tuple[Call, ...],
    broken: str | None,
) -> bytes:
    """Digest of what the message says; of its bytes where it cannot be read."""
    digest = blake2b(digest_size=16)
    if broken:
        digest.update(b"raw\0" + raw)
        return digest.digest()
    call_id = text_of(raw, fields.get("tool_call_id")) or ""
    for part in (role, call_id, *(t.value for t in texts if t.value)):
        _feed(digest, part.encode("utf-8", "surrogatepass"))
    for other in others:
        _feed(digest, other)
    for call in calls:
        _feed(digest, f"{call.id}\0{call.tool}\0{by_value(call.arguments)}".encode("utf-8", "surrogatepass"))
    return digest.digest()


def _feed(digest: blake2b, part: bytes) -> None:
    digest.update(len(part).to_bytes(8, "big") + part)
