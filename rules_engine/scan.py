"""Finds lines by pattern: one RE2 pass over a whole text, in which neighbouring lines make one match."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import re2


def compile_lines(*parts: str, flags: str = "mi") -> re2._Regexp[str]:
    """A pattern for runs of whole lines that match one of `parts`; for `find_lines`. `^` and `$` are a line's ends."""
    return re2.compile(rf"(?{flags})(?:^.*(?:{'|'.join(parts)}).*$\n?)+")


def encode(lines: Iterable[str]) -> bytes:
    """The text that `find_lines` searches; bytes, since offsets in characters cost more than the search."""
    return "\n".join(lines).encode("utf-8", "replace")


def find_lines(pattern: re2._Regexp[str], data: bytes) -> Iterator[int]:
    """Positions of the lines that match, ascending."""
    line = at = 0
    for found in pattern.finditer(data):
        start, end = found.span()
        line += data.count(b"\n", at, start)
        after = line + data.count(b"\n", start, end)
        yield from range(line, after + (data[end - 1 : end] != b"\n"))
        line, at = after, end
