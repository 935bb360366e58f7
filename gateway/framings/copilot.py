"""Copilot CLI: the output, then a tag that says how the shell stands."""

from __future__ import annotations

import re

from gateway.frames import Frame, Role, cut

ROLES: frozenset[Role] = frozenset({"tool"})

_TAIL = re.compile(
    r"\n?<(?:shellId: \S+ completed with exit code (?P<code>-?\d+)|command with shellId: \S+ is still running [^\n]*)>\Z"
)
_WINDOW = 400


def split(text: str) -> Frame | None:
    """Everything before the tag."""
    if not text.endswith(">"):
        return None
    tail = _TAIL.search(text, max(0, len(text) - _WINDOW))
    return tail and cut(text, (0, tail.start()), exit_code=tail["code"])
