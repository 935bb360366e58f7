"""A framed text: the nouns that every framing speaks in, and the way back.

text ─Framing.split→ Frame(Body*) ─new texts─put→ text
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from gateway.json_text import JsonStyle, Member, encode, style_of

Role = Literal["tool", "user"]


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
    """In order and never empty texts; none at all where the wrapper holds no output."""
    exit_code: int | None = None
    command: str | None = None
    """Where the wrapper repeats it."""
    unasked: bool = False
    """It shows text again that nobody asked for: an editor's window after each edit, a whole screen."""


class Framing(Protocol):
    """A member of the folder `gateway.framings`."""

    ROLES: frozenset[Role]
    """Roles of the messages in which the wrapper occurs. A framing for `user` must be unmistakable."""

    def split(self, text: str) -> Frame | None:
        """The parts of `text`, or `None` if it is not in this framing."""


def cut(text: str, *spans: tuple[int, int], exit_code: int | str | None = None, command: str | None = None) -> Frame:
    """The frame whose bodies are the slices `spans` of `text`, empty ones left out."""
    bodies = tuple(Body(start=start, end=end, text=text[start:end]) for start, end in spans if start < end)
    return Frame(bodies=bodies, exit_code=None if exit_code is None else int(exit_code), command=command)


def cut_strings(text: str, members: Iterable[Member]) -> tuple[Body, ...] | None:
    """A body for each JSON string among `members`, empty ones left out; `None` if one could not be put back as it is."""
    bodies = []
    for member in members:
        if not isinstance(member.value, str):
            return None
        start, end = member.inside
        style = style_of(text[start:end], member.value)
        if style is None:
            return None
        if start < end:
            bodies.append(Body(start=start, end=end, text=member.value, json=style))
    return tuple(bodies)


def put(text: str, frame: Frame, new: Sequence[str]) -> str:
    """`text` with the bodies of `frame` replaced by `new`, one for each, everything else as it is."""
    out = []
    at = 0
    for body, replacement in zip(frame.bodies, new, strict=True):
        out.append(text[at : body.start])
        out.append(replacement if body.json is None else encode(replacement, body.json))
        at = body.end
    out.append(text[at:])
    return "".join(out)
