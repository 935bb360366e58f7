"""Continue: plain output, but for a failure that wrote to the standard error stream."""

from __future__ import annotations

import re

from gateway.frames import Frame, Role, cut

ROLES: frozenset[Role] = frozenset({"tool"})

_HEAD = re.compile(r"Error executing tool \w+: Error \(exit code (-?\d+)\): ")


def split(text: str) -> Frame | None:
    """What follows the words about the failure."""
    head = _HEAD.match(text)
    return head and cut(text, (head.end(), len(text)), exit_code=head[1])
