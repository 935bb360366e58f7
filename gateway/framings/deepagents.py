"""deepagents: the output, then `Exit code: 1` and a bracket that says whether the command succeeded."""

from __future__ import annotations

import re

from gateway.frames import Frame, Role, cut

ROLES: frozenset[Role] = frozenset({"tool"})

_TAIL = re.compile(
    r"(?:\n\nExit code: -?\d+)?\n{1,2}\[Command (?:succeeded|failed) with exit code (?P<code>-?\d+)\]\Z"
    r"|\n\nExit code: (?P<stated>-?\d+)\Z"
)
_WINDOW = 100


def split(text: str) -> Frame | None:
    """Everything before the verdict."""
    tail = _TAIL.search(text, max(0, len(text) - _WINDOW))
    return tail and cut(text, (0, tail.start()), exit_code=tail["code"] or tail["stated"])
