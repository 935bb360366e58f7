"""Droid: the output, then `[Process exited with code 0]`; before a failure's output a line that says so."""

from __future__ import annotations

import re

from gateway.frames import Frame, Role, cut

ROLES: frozenset[Role] = frozenset({"tool"})

_HEAD = re.compile(r"Error: Command failed \(exit code: -?\d+\)\n")
_TAIL = re.compile(r"\n{0,3}\[Process exited with code (?P<code>-?\d+)\]\Z")
_WINDOW = 60


def split(text: str) -> Frame | None:
    """What stands between the two."""
    if not text.endswith("]"):
        return None
    tail = _TAIL.search(text, max(0, len(text) - _WINDOW))
    if tail is None:
        return None
    head = _HEAD.match(text)
    return cut(text, (head.end() if head else 0, tail.start()), exit_code=tail["code"])
