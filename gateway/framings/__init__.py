"""How agents wrap terminal output: one module a wrapper, tried in the order of the table.

A framing splits the text of one tool result into wrapper and bodies; only bodies are ever rewritten, and `put` gives
the whole back with new bodies in the same encoding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Role = Literal["tool", "user"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonStyle:
    """How an agent's JSON encoder writes a string, so that a new one is written alike."""

    ascii_only: bool
    escaped: frozenset[str] = frozenset()
    """Characters that it writes as ``\\uXXXX`` without need, such as ``<``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """One stretch of tool output inside a framed text."""

    start: int
    end: int
    """Slice of the framed text, in characters."""
    text: str
    """The output itself, decoded."""
    json: JsonStyle | None = None
    """Set where the slice is the inside of a JSON string."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A framed text, split."""

    bodies: tuple[Body, ...]
    exit_code: int | None = None
    command: str | None = None
    """Where the wrapper repeats it."""


class Framing(Protocol):
    """A member of this folder."""

    ROLES: frozenset[Role]
    """Roles of the messages in which the wrapper occurs. A framing for `user` must be unmistakable."""

    def split(self, text: str) -> Frame | None:
        """The parts of `text`, or `None` if it is not in this framing."""


def put(text: str, frame: Frame, new: Sequence[str]) -> str:
    """`text` with the bodies of `frame` replaced by `new`, one for each, everything else as it is."""
    raise NotImplementedError
