"""OpenHands: the output, then lines in brackets about directory, interpreter and exit code."""

from __future__ import annotations

import re

from gateway.frames import Frame, Role, cut

ROLES: frozenset[Role] = frozenset({"tool", "user"})

_HEAD = re.compile(r"(?:EXECUTION RESULT of \[[^\]\n]*\]:|Observed result of command executed by user:\n)\n")
_LAST = re.compile(r"\n\[Command finished with exit code (-?\d+)\]\Z")
_BEFORE = ("\n[Python interpreter: ", "\n[Current working directory: ", "\n[The command ")
_WINDOW = 50


def split(text: str) -> Frame | None:
    """Everything before the lines in brackets."""
    last = _LAST.search(text, max(0, len(text) - _WINDOW)) if text.endswith("]") else None
    if last is None:
        return None
    end = last.start()
    for label in _BEFORE:
        at = text.rfind("\n", 0, end)
        if at >= 0 and text.startswith(label, at):
            end = at
    head = _HEAD.match(text)
    return cut(text, (head.end() if head else 0, end), exit_code=last[1])
