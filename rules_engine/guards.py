"""What no rule may do: insert much for little, or leave out a line that is protected."""

from __future__ import annotations

from collections.abc import Iterable

from rules_engine.script import Edit
from rules_engine.types import Piece

GAIN = 4
"""An edit removes at least so many times the characters that it inserts, so that it never costs tokens."""


def worthwhile(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """The edits that remove enough."""
    return tuple([edit for edit in edits if gains(edit)])


def gains(edit: Edit) -> bool:
    """The edit removes something, and at least `GAIN` times the characters that it inserts."""
    start, end, pieces = edit
    added = inserted(pieces) if pieces else 0
    removed = end - start - sum([piece[1] - piece[0] for piece in pieces if not isinstance(piece, str)])
    return removed > 0 and removed >= GAIN * added


def inserted(pieces: Iterable[Piece]) -> int:
    """Characters of the literals among `pieces`."""
    return sum([len(piece) for piece in pieces if isinstance(piece, str)])
