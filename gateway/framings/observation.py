"""SWE-agent 1.x and smolagents: the word `Observation:` on a line, then the output."""

from __future__ import annotations

from gateway.frames import Frame, Role, cut

ROLES: frozenset[Role] = frozenset({"tool", "user"})

_HEADS = ("OBSERVATION:\n", "Observation:\n")


def split(text: str) -> Frame | None:
    """What follows the first line."""
    return cut(text, (len(_HEADS[0]), len(text))) if text.startswith(_HEADS) else None
