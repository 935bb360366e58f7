"""Scripts: put a text together from slices of another, compose two such steps, and name the result."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from hashlib import blake2b
from itertools import accumulate

from rules_engine.types import Piece, Script, ScriptError

Edit = tuple[int, int, tuple[Piece, ...]]
"""Replace the slice ``start:end`` of a text by pieces; their slices are of the same text."""


def text_digest(text: str) -> str:
    """Short, stable name of a text: 32 hex characters of BLAKE2b."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def render(text: str, script: Script) -> str:
    """The text that a script describes. Raises `ScriptError` if a slice lies outside `text`."""
    size = len(text)
    out = []
    for piece in script:
        if isinstance(piece, str):
            out.append(piece)
        elif 0 <= piece[0] <= piece[1] <= size:
            out.append(text[piece[0] : piece[1]])
        else:
            raise ScriptError(f"slice {piece} lies outside a text of {size} characters")
    return "".join(out)


def splice(size: int, edits: Iterable[Edit]) -> Script:
    """The script over a text of `size` characters that makes `edits` (ordered, not overlapping)."""
    out: list[Piece] = []
    at = 0
    for start, end, pieces in edits:
        if not at <= start <= end <= size:
            raise ScriptError(f"edit {start}:{end} overlaps another or lies outside {size} characters")
        out.append((at, start))
        out.extend(pieces)
        at = end
    out.append((at, size))
    return joined(out)


def compose(first: Script, second: Script) -> Script:
    """One script over the raw text, from `first` over it and `second` over the result of `first`."""
    if len(first) == 1 and not isinstance(first[0], str) and first[0][0] == 0:
        return second
    starts = [0]
    for piece in first:
        starts.append(starts[-1] + (len(piece) if isinstance(piece, str) else piece[1] - piece[0]))
    out: list[Piece] = []
    at = 0
    for piece in second:
        if isinstance(piece, str):
            out.append(piece)
            continue
        start, end = piece
        while at > 0 and starts[at] > start:
            at -= 1
        while at < len(first) and starts[at + 1] <= start:
            at += 1
        k = at
        while k < len(first) and starts[k] < end:
            out.append(_part(first[k], max(start - starts[k], 0), min(end, starts[k + 1]) - starts[k]))
            k += 1
    return joined(out)


def trace(script: Script, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int] | None]:
    """For each slice of the result, the slice of the input that it comes from (its hull), or `None` if it is literal."""
    starts = list(accumulate((len(p) if isinstance(p, str) else p[1] - p[0] for p in script), initial=0))
    out: list[tuple[int, int] | None] = []
    for start, end in spans:
        low, high = bisect_right(starts, start) - 1, bisect_left(starts, end)
        parts = [
            _part(script[k], max(start - starts[k], 0), min(end, starts[k + 1]) - starts[k]) for k in range(low, high)
        ]
        slices = [part for part in parts if not isinstance(part, str) and part[0] < part[1]]
        out.append((min(a for a, _ in slices), max(b for _, b in slices)) if slices else None)
    return out


def joined(pieces: Iterable[Piece]) -> Script:
    """The same result in as few pieces as possible."""
    out: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, str):
            if piece and out and isinstance(out[-1], str):
                out[-1] += piece
            elif piece:
                out.append(piece)
        elif piece[0] < piece[1]:
            last = out[-1] if out else None
            if isinstance(last, tuple) and last[1] == piece[0]:
                out[-1] = (last[0], piece[1])
            else:
                out.append(piece)
    return tuple(out)


def _part(piece: Piece, start: int, end: int) -> Piece:
    return piece[start:end] if isinstance(piece, str) else (piece[0] + start, piece[0] + end)
