"""OpenHands: the output, then lines in brackets about directory, interpreter and exit code."""

from __future__ import annotations

import re

from gateway.frames import Frame, Role, cut

ROLES: frozenset[Role] = frozenset({"tool", "user"})

_HEAD = re.compile(r"(?:EXECUTION RESULT of \[[^\]\n]*\]:|Observed result of command executed by user:\n)\n")
_TAIL = re.compile(
    r"(?:\n\[The command (?:completed with exit code -?\d+|timed out|has no new output|was killed)[^\n]*\])?"
    r"(?:\n\[Current working directory: [^\n]*\])?"
    r"(?:\n\[Python interpreter: [^\n]*\])?"
    r"\n\[Command finished with exit code (?P<code>-?\d+)\]\Z"
)
_WINDOW = 1500


def split(text: str) -> Frame | None:
    """Everything before the lines in brackets."""
    if not text.endswith("]"):
        return None
    tail = _TAIL.search(text, max(0, len(text) - _WINDOW))
    if tail is None:
        return None
    head = _HEAD.match(text)
    return cut(text, (head.end() if head else 0, tail.start()), exit_code=tail["code"])
