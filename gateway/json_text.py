"""JSON that somebody else wrote: where its strings stand, and how to write a new one in the same hand."""

from __future__ import annotations

import re
from dataclasses import dataclass
from json import JSONDecoder, dumps

_SPACE = re.compile(r"[ \t\r\n]*")
_ESCAPED = re.compile(r"\\\\|\\u(?!00[01])([0-9a-fA-F]{4})")
_ESCAPED_ASCII = re.compile(r"\\\\|\\u(00[2-7][0-9a-fA-F])")
_TORN = re.compile(r"(?<!\\)(?:\\\\)*(\\(?:u[0-9a-fA-F]{0,3})?)\Z")
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
    closed: bool = True
    """False for a string that lacks its end because the text does."""

    @property
    def inside(self) -> tuple[int, int]:
        """The slice between the quotes of a string."""
        return self.start + 1, self.end - 1 if self.closed else self.end


@dataclass(frozen=True, slots=True)
class Object:
    """The members of an object in their order, and where it ends."""

    members: dict[str, Member]
    end: int
    whole: bool = True
    """False if the text ends before the object does."""


def read_object(text: str, at: int = 0) -> Object | None:
    """The object that begins at `at`; `None` if it is no JSON or a key occurs twice."""
    found: dict[str, Member] = {}
    try:
        at = _read_members(text, at, found)
    except (ValueError, RecursionError):
        return None
    except IndexError:
        return Object(found, len(text), whole=False)
    return None if at < 0 else Object(found, at)


def read_list(text: str) -> list[dict[str, Member]] | None:
    """The objects of an array that holds nothing else; `None` if the text is not such an array."""
    items = []
    at = _skip(text, 1)
    while (found := read_object(text, at)) is not None and found.whole:
        items.append(found.members)
        at = _skip(text, found.end)
        if text[at:].strip() == "]":
            return items
        if not text.startswith(",", at):
            return None
        at = _skip(text, at + 1)
    return None


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _read_members(text: str, at: int, found: dict[str, Member]) -> int:
    """Fill `found`; where the object ends, or -1. Raises `IndexError` where the text ends first."""
    if text[at] != "{":
        return -1
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, at = _read(text, at)
        at = _skip(text, at)
        if not isinstance(key, str) or key in found or text[at] != ":":
            return -1
        member = _read_value(text, _skip(text, at + 1))
        found[key] = member
        at = _skip(text, member.end if member.closed else len(text))
        if text[at] == "," and text[(after := _skip(text, at + 1))] != "}":
            at = after
        elif text[at] != "}":
            return -1
    return at + 1


def _read_value(text: str, start: int) -> Member:
    try:
        value, end = _read(text, start)
    except ValueError:
        torn = _TORN.search(text, start + 1)
        end = torn.start(1) if torn else len(text)
        if text[start] != '"':
            raise
        value, _ = _read(text[start:end] + '"')
        return Member(value, start, end, closed=False)
    return Member(value, start, end)


def encode(text: str, style: JsonStyle) -> str:
    """`text` as the inside of a JSON string, in the given style."""
    out = dumps(text, ensure_ascii=style.ascii_only)[1:-1]
    if not out.isascii():
        out = _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", out)
    for char in style.escaped:
        out = out.replace(char, f"\\u{ord(char):04x}")
    return out


def style_of(written: str, text: str) -> JsonStyle | None:
    """The style in which `text` is `written`, or `None` if no style of ours would write it so."""
    ascii_only = written.isascii() and not text.isascii()
    escaped = _needless(written, ascii_only) if "\\u" in written else frozenset[str]()
    style = JsonStyle(ascii_only=ascii_only, escaped=escaped)
    # A letter or a digit may be part of an escape itself, so writing it as one would spoil others.
    if any(char.isalnum() or char in '"\\' for char in escaped) or encode(text, style) != written:
        return None
    return style


def _needless(written: str, ascii_only: bool) -> frozenset[str]:
    escapes = _ESCAPED_ASCII if ascii_only else _ESCAPED
    codes = {int(found[1], 16) for found in escapes.finditer(written) if found[1]}
    return frozenset(chr(code) for code in codes if not 0xD800 <= code < 0xE000)
