"""Where the values of a JSON text stand, as byte spans, so that one can be replaced and the rest stay the same bytes.

msgspec splits well-formed text in C. What it refuses though clients send it (lone surrogates, NaN) or cannot show
(duplicate keys) is split by a tolerant scanner.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

import msgspec

_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.S)
_MARK = re.compile(rb'["\[\]{}]')
_BLANK = re.compile(rb"[ \t\r\n]*")
_SCALAR = re.compile(rb"[^\s,\]}]+")
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ARRAY = msgspec.json.Decoder(list[msgspec.Raw])
_TEXT = msgspec.json.Decoder(str)

_REFUSED = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""How msgspec says that it does not take a text; it may still be JSON."""


class MalformedJSON(ValueError):
    """Not JSON, not even to the tolerant scanner."""


@dataclass(frozen=True, slots=True)
class Member:
    """One key of an object and the span of its value."""

    key: str
    start: int
    end: int


def members(data: bytes, start: int, end: int) -> tuple[list[Member], bool]:
    """The members of the object at ``data[start:end]`` in order, and whether a key occurs twice."""
    try:
        values = _OBJECT.decode(memoryview(data)[start:end])
    except _REFUSED:
        return _scan_members(data, start, end)
    out = []
    at = _skip(data, start) + 1
    for key, raw in values.items():
        at = _skip(data, at)
        match = _STRING.match(data, at)
        if match is None or _key(match.group()) != key:
            return _scan_members(data, start, end)
        at = _skip(data, _skip(data, match.end()) + 1)
        size = len(memoryview(raw))
        if not data.startswith(memoryview(raw), at):  # `==` of views would go byte by byte
            return _scan_members(data, start, end)
        out.append(Member(key, at, at + size))
        at = _skip(data, at + size) + 1
    if at < end and data[at - 1 : at] == b",":  # more members than keys: the last key occurs twice
        return _scan_members(data, start, end)
    return out, False


def elements(data: bytes, start: int, end: int) -> list[tuple[int, int]]:
    """The spans of the elements of the array at ``data[start:end]``."""
    try:
        values = _ARRAY.decode(memoryview(data)[start:end])
    except _REFUSED:
        return _scan_elements(data, start, end)
    out = []
    at = _skip(data, start) + 1
    for raw in values:
        at = _skip(data, at)
        size = len(memoryview(raw))
        out.append((at, at + size))
        at = _skip(data, at + size) + 1
    return out


def string(data: bytes, start: int, end: int) -> str | None:
    """The string at ``data[start:end]``; `None` if it is no string, or holds a lone surrogate."""
    try:
        return _TEXT.decode(memoryview(data)[start:end])
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError):
        return None


def encode_string(text: str) -> bytes:
    """A JSON string, always the same bytes for the same text."""
    return msgspec.json.encode(text)


def replace(data: bytes, new: list[tuple[int, int, bytes]], at: int = 0) -> bytes:
    """`data` from byte `at` on, with the spans of `new` (in order) replaced, and every other byte as it was."""
    out = []
    for start, end, value in new:
        out += [data[at:start], value]
        at = end
    out.append(data[at:])
    return b"".join(out)


def by_value(arguments: str) -> str:
    """Arguments in one JSON form, whichever the client re-sends; other text as it is."""
    try:
        return json.dumps(json.loads(arguments), sort_keys=True, separators=(",", ":"))
    except (ValueError, RecursionError):
        return arguments


def _skip(data: bytes, at: int) -> int:
    if data[at : at + 1] > b" ":
        return at
    match = _BLANK.match(data, at)
    return match.end() if match else at


def _key(literal: bytes) -> str:
    try:
        return _TEXT.decode(literal)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return literal.decode("utf-8", "replace")


def _scan_members(data: bytes, start: int, end: int) -> tuple[list[Member], bool]:
    out: list[Member] = []
    at = _open(data, start, end, b"{")
    while data[at : at + 1] != b"}":
        match = _STRING.match(data, at, end)
        if match is None:
            raise MalformedJSON(f"expected a key at byte {at}")
        at = _expect(data, match.end(), end, b":")
        stop = _value_end(data, at, end)
        out.append(Member(_key(match.group()), at, stop))
        at = _next(data, stop, end, b"}")
    _close(data, at, end)
    return out, len({m.key for m in out}) < len(out)


def _scan_elements(data: bytes, start: int, end: int) -> list[tuple[int, int]]:
    out = []
    at = _open(data, start, end, b"[")
    while data[at : at + 1] != b"]":
        stop = _value_end(data, at, end)
        out.append((at, stop))
        at = _next(data, stop, end, b"]")
    _close(data, at, end)
    return out


def _open(data: bytes, start: int, end: int, bracket: bytes) -> int:
    at = _skip(data, start)
    if at >= end or data[at : at + 1] != bracket:
        raise MalformedJSON(f"expected {bracket.decode()} at byte {at}")
    return _skip(data, at + 1)


def _close(data: bytes, at: int, end: int) -> None:
    if _skip(data, at + 1) < end:
        raise MalformedJSON(f"text after the end of the value at byte {at + 1}")


def _expect(data: bytes, at: int, end: int, mark: bytes) -> int:
    at = _skip(data, at)
    if at >= end or data[at : at + 1] != mark:
        raise MalformedJSON(f"expected {mark.decode()} at byte {at}")
    return _skip(data, at + 1)


def _next(data: bytes, at: int, end: int, bracket: bytes) -> int:
    at = _skip(data, at)
    if at < end and data[at : at + 1] == bracket:
        return at
    at = _expect(data, at, end, b",")
    if data[at : at + 1] == bracket:
        raise MalformedJSON(f"nothing after the comma before byte {at}")
    return at


def _value_end(data: bytes, at: int, end: int) -> int:
    first = data[at : at + 1]
    if first == b'"':
        match = _STRING.match(data, at, end)
    elif first in (b"{", b"["):
        return _container_end(data, at, end)
    else:
        match = _SCALAR.match(data, at, end)
    if match is None:
        raise MalformedJSON(f"no value at byte {at}")
    return match.end()


def _container_end(data: bytes, at: int, end: int) -> int:
    depth = 0
    while match := _MARK.search(data, at, end):
        at = match.end()
        mark = match.group()
        if mark == b'"':
            text = _STRING.match(data, match.start(), end)
            if text is None:
                break
            at = text.end()
        elif mark in b"[{":
            depth += 1
        else:
            depth -= 1
            if depth == 0:
                return at
    raise MalformedJSON("the text ends inside a value")
