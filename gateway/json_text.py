"""JSON that somebody else wrote: where its strings stand, and how to write a new one in the same hand."""

from __future__ import annotations

import re
from dataclasses import dataclass
from json import JSONDecoder, dumps

_SPACE = re.compile(r"[ \t\r\n]*")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)")
_SURROGATE = re.compile("[\ud800-\udfff]")
_read = JSONDecoder().raw_decode


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonStyle:
    """How an agent's JSON encoder writes a string, so that a new one is written alike."""

    ascii_only: bool
    escaped: frozenset[str] = frozenset()
    """Characters that it writes as ``\\uXXXX`` without need, such as ``<``."""


@dataclass(frozen=True, slots=True)
class Member:
    """A value of an object, decoded, with the slice of the text in which it is written."""

    value: object
    start: int
    end: int


def read_object(text: str, at: int = 0) -> tuple[dict[str, Member], int] | None:
    """The members of the object that begins at `at` and where it ends; `None` if it is no JSON or a key occurs twice."""
    try:
        return _members(text, _skip(text, at))
    except (ValueError, IndexError, RecursionError):
        return None


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _members(text: str, at: int) -> tuple[dict[str, Member], int] | None:
    if text[at] != "{":
        return None
    found: dict[str, Member] = {}
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, at = _read(text, at)
        at = _skip(text, at)
        if not isinstance(key, str) or key in found or text[at] != ":":
            return None
        start = _skip(text, at + 1)
        value, end = _read(text, start)
        found[key] = Member(value, start, end)
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
            if text[at] == "}":
                return None
        elif text[at] != "}":
            return None
    return found, at + 1


def encode(text: str, style: JsonStyle) -> str:
    """`text` as the inside of a JSON string, in the given style."""
    out = dumps(text, ensure_ascii=style.ascii_only)[1:-1]
    if not style.ascii_only:
        out = _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", out)
    if style.escaped:
        out = out.translate({ord(char): f"\\u{ord(char):04x}" for char in style.escaped})
    return out


def style_of(written: str, text: str) -> JsonStyle | None:
    """The style in which `text` is `written`, or `None` if no style of ours would write it so."""
    ascii_only = written.isascii() and not text.isascii()
    escaped = frozenset() if "\\u" not in written else _needless(written, ascii_only)
    style = JsonStyle(ascii_only=ascii_only, escaped=escaped)
    # A letter or a digit may be part of an escape itself, so writing it as one would spoil others.
    if any(char.isalnum() or char in '"\\' for char in escaped) or encode(text, style) != written:
        return None
    return style


def _needless(written: str, ascii_only: bool) -> frozenset[str]:
    codes = {int(found[1], 16) for found in _ESCAPE.finditer(written) if found[1]}
    return frozenset(
        chr(code)
        for code in codes
        if code >= 0x20 and not 0xD800 <= code < 0xE000 and not (ascii_only and code >= 0x80)
    )
