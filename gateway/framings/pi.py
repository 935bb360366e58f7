"""pi and its relatives (OpenClaw, GJC): the output, then a sentence about how the command ended."""

from __future__ import annotations

import re

from gateway.frames import Frame, Role, cut

ROLES: frozenset[Role] = frozenset({"tool"})

_TAIL = re.compile(
    r"\n\n(?:\(?Command exited with code (?P<code>-?\d+)\)?|Process exited with code (?P<ended>-?\d+)\.|Process still running\.)\Z"
)
_WINDOW = 60


def split(text: str) -> Frame | None:
    """Everything before the sentence."""
    tail = _TAIL.search(text, max(0, len(text) - _WINDOW))
    return tail and cut(text, (0, tail.start()), exit_code=tail["code"] or tail["ended"])
