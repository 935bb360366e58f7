"""Terminus-2: a terminal screen in a user message."""

from __future__ import annotations

import re

from gateway.frames import Frame, Role, cut

ROLES: frozenset[Role] = frozenset({"user"})

_HEAD = re.compile(
    r"(?:Previous response had warnings:\n(?:[^\n]*\n)+?\n)?"
    r"(?:Current terminal state:\n)?"
    r"(?:New Terminal Output|Current Terminal Screen):\n"
)
_CONFIRM = "\n\nAre you sure you want to mark the task as complete?"


def split(text: str) -> Frame | None:
    """The screen, without the question whether the task is done."""
    if not text.startswith(("New Terminal", "Current ", "Previous response had warnings:\n")):
        return None
    head = _HEAD.match(text)
    if head is None:
        return None
    asked = text.rfind(_CONFIRM) if text.startswith("Current terminal state:\n") else -1
    return cut(text, (head.end(), len(text) if asked < head.end() else asked))
