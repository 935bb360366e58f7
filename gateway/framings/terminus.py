"""Terminus-2: a terminal screen in a user message."""

from __future__ import annotations

import re
from dataclasses import replace

from gateway.frames import Frame, Role, cut

ROLES: frozenset[Role] = frozenset({"user"})

_WARNED = "Previous response had warnings:\n"
_ASKED = "Current terminal state:\n"
_HEAD = re.compile(
    rf"(?:{_WARNED}(?:[^\n]+\n){{1,20}}\n)?(?:{_ASKED})?(?:New Terminal Output|Current Terminal Screen):\n"
)
_CONFIRM = "\n\nAre you sure you want to mark the task as complete?"


def split(text: str) -> Frame | None:
    """The screen, without the question whether the task is done."""
    head = _HEAD.match(text)
    if head is None:
        return None
    end = text.rfind(_CONFIRM) if _ASKED in head[0] else -1
    return replace(cut(text, (head.end(), end if end >= head.end() else len(text))), unasked=True)
