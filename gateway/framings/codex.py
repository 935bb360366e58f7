"""Codex: lines about the run, then `Output:` and the output."""

from __future__ import annotations

import re

from gateway.frames import Frame, Role, cut

ROLES: frozenset[Role] = frozenset({"tool"})

_HEAD = re.compile(
    r"(?:Chunk ID: [^\n]*\n)?"
    r"(?:Exit code: (?P<code>-?\d+)\n)?"
    r"Wall time: [^\n]* seconds\n"
    r"(?:Process exited with code (?P<exited>-?\d+)\n|Process running with session ID [^\n]*\n)?"
    r"(?:Total output lines: \d+\n)?"
    r"(?:Original token count: \d+\n)?"
    r"Output:\n"
)


def split(text: str) -> Frame | None:
    """What follows `Output:`."""
    head = _HEAD.match(text)
    if head is None:
        return None
    return cut(text, (head.end(), len(text)), exit_code=head["code"] or head["exited"])
