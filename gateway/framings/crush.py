"""Crush: the output, `Exit code 1` after a failure, and the directory in a tag."""

from __future__ import annotations

import re

from gateway.frames import Frame, Role, cut

ROLES: frozenset[Role] = frozenset({"tool"})

_TAIL = re.compile(r"(?:\n{1,2}Exit code (?P<code>-?\d+))?\n\n<cwd>[^\n<]*</cwd>\Z")
_WINDOW = 1000


def split(text: str) -> Frame | None:
    """Everything before them."""
    if not text.endswith("</cwd>"):
        return None
    tail = _TAIL.search(text, max(0, len(text) - _WINDOW))
    return tail and cut(text, (0, tail.start()), exit_code=tail["code"])
