"""kill-terminalbench: `[exit_code=0]`, a blank line, the output; a long one is a preview of a file."""

from __future__ import annotations

import re

from gateway.frames import Frame, Role, cut

ROLES: frozenset[Role] = frozenset({"tool"})

_HEAD = re.compile(
    r"(?:\[persisted_output\]\n(?:[^\n]*\n){1,4}?\[preview\]\n)?\[exit_code=(?P<code>-?\d+)(?:; [^\]\n]*)?\](?:\n\n?|\Z)"
)


def split(text: str) -> Frame | None:
    """What follows the code."""
    if not text.startswith(("[exit_code=", "[persisted_output]\n")):
        return None
    head = _HEAD.match(text)
    return head and cut(text, (head.end(), len(text)), exit_code=head["code"])
