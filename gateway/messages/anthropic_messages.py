"""One message of an Anthropic Messages request: texts, calls, and results of tools, which stand in the user's."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from gateway.errors import BadRequest
from gateway.framings import Role
from gateway.messages.content import NOTHING, Content, join, loads, message, read_text, text_of
from gateway.spans import Member, elements, members
from gateway.types import Call, Message

_MARK = "cache_control"
"""Where a client lets the provider's cache end; it moves from turn to turn, and says nothing."""
_RESULT = "tool_result"
_FAILED = 1
"""Stands for the exit code where a result says no more than that it is an error."""


@dataclass(frozen=True, slots=True)
class _Source:
    """Whose the texts are that are read."""

    role: Role
    call: str | None = None
    exit_code: int | None = None


@dataclass(frozen=True, slots=True)
class _Said:
    """What a block says."""

    content: Content = NOTHING
    calls: tuple[Call, ...] = ()
    names: tuple[str, ...] = ()
    """What it is: with these in their order, messages that say the same in another order have other names."""


@dataclass(frozen=True, slots=True)
class _Block:
    raw: bytes
    fields: Mapping[str, Member]
    twice: bool

    def text(self, name: str) -> str | None:
        """The string under a name; `None` if there is none, or it is none."""
        return text_of(self.raw, self.fields.get(name))

    def holds(self, name: str, first: bytes) -> bool:
        """The value under a name begins so."""
        member = self.fields.get(name)
        return member is not None and self.raw.startswith(first, member.start)

    def checked(self, content: Content) -> Content:
        """The content, broken where the block has a key twice."""
        return Content(content.texts, content.others, content.broken or ("duplicate key" if self.twice else None))


def read_message(raw: bytes, index: int) -> Message:
    """Read the object `raw`, the message at `index` of its request. Raises `BadRequest` without a role."""
    found, twice = members(raw, 0, len(raw))
    fields = {member.key: member for member in found}
    role = text_of(raw, fields.get("role"))
    if role is None:
        raise BadRequest(f"'messages[{index}].role' is not a string", param=f"messages[{index}].role")
    said = list(_blocks(raw, fields.get("content"), _Source("user" if role == "user" else "tool")))
    return message(
        raw,
        role=role,
        names=(role, *chain.from_iterable(one.names for one in said)),
        content=join(one.content for one in said),
        calls=tuple(call for one in said for call in one.calls),
        observed=role == "user",
        twice=twice,
    )


def _blocks(raw: bytes, content: Member | None, source: _Source) -> Iterator[_Said]:
    """A content: a string is the same as a list with this one text."""
    if content is None or raw.startswith(b"null", content.start):
        return
    if raw.startswith(b'"', content.start):
        yield _text(raw, content, source)
    elif raw.startswith(b"[", content.start):
        for start, end in elements(raw, content.start, content.end):
            yield _block(raw, start, end, source)
    else:
        yield _other(raw, content.start, content.end)


def _block(raw: bytes, start: int, end: int, source: _Source) -> _Said:
    if not raw.startswith(b"{", start):
        return _other(raw, start, end)
    found, twice = members(raw, start, end)
    block = _Block(raw, {member.key: member for member in found}, twice)
    kind = block.text("type") if "type" in block.fields else "text"
    if kind == "text" and block.holds("text", b'"'):
        said = _text(raw, block.fields["text"], source)
        return _Said(block.checked(said.content), names=said.names)
    if kind == _RESULT and source.call is None and source.role == "user":
        return _result(block)
    if kind == "tool_use" and "input" in block.fields:
        return _call(block)
    return _other(raw, start, end)


def _text(raw: bytes, member: Member, source: _Source) -> _Said:
    content = read_text(raw, member.start, member.end, source.role, source.call, source.exit_code)
    says = bool(content.broken or content.texts[0].value)
    return _Said(content, names=("text",) if says else ())


def _result(block: _Block) -> _Said:
    call = block.text("tool_use_id") or ""
    failed = block.holds("is_error", b"true")
    source = _Source("tool", call, _FAILED if failed else None)
    said = list(_blocks(block.raw, block.fields.get("content"), source))
    names = [_RESULT, call, "failed" if failed else "", *chain.from_iterable(one.names for one in said), "end"]
    return _Said(block.checked(join(one.content for one in said)), names=tuple(names))


def _call(block: _Block) -> _Said:
    given = block.fields["input"]
    arguments = block.raw[given.start : given.end].decode("utf-8", "replace")
    call = Call(id=block.text("id") or "", tool=block.text("name") or "", arguments=arguments)
    return _Said(block.checked(NOTHING), (call,), ("tool_use",))


def _other(raw: bytes, start: int, end: int) -> _Said:
    """What is left alone: images, documents, thinking, what the provider's own tools did, and what nobody knows."""
    value = loads(raw, Member("", start, end))
    try:
        said = raw[start:end] if value is None else json.dumps(_unmarked(value), sort_keys=True).encode()
    except RecursionError:
        said = raw[start:end]
    return _Said(Content(others=(said,)), names=("other",))


def _unmarked(value: object) -> object:
    """A block without cache marks, wherever blocks stand in it."""
    if isinstance(value, Mapping):
        return {key: inner if key == "input" else _unmarked(inner) for key, inner in value.items() if key != _MARK}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_unmarked(inner) for inner in value]
    return value
