"""The form that many small agents use: `Exit code 0. Output:` and a fenced block."""

from __future__ import annotations

import re

from gateway.frames import Frame, Role, cut

ROLES: frozenset[Role] = frozenset({"tool", "user"})

_HEAD = re.compile(r"Exit code:? (-?\d+)\.? Output:\n(`{3,})\w*\n")


def split(text: str) -> Frame | None:
    """What stands in the block."""
    head = _HEAD.match(text)
    if head is None:
        return None
    end = len(text) - len(head[2])
    if not text.endswith("\n" + head[2]) or end < head.end():
        return None
    return cut(text, (head.end(), end), exit_code=head[1])
