"""Codex: lines about the run, then `Output:` and the output."""

from __future__ import annotations

import re

from gateway.frames import Frame, Role, cut

ROLES: frozenset[Role] = frozenset({"tool"})

_HEAD = re.compile(
    r"(?:Chunk ID: [^\n]*\n|Script (?:completed|running|failed|terminated)[^\n]*\n)?"
    r"(?:Exit code: (?P<code>-?\d+)\n)?"
    r"Wall time:? [\d.]+ seconds\n"
    r"(?:Process exited with code (?P<exited>-?\d+)\n)?"
    r"(?:Process running with session ID [^\n]*\n)?"
    r"(?:Original token count: \d+\n)?"
    r"(?:Total output lines: \d+\n)?"
    r"(?:Warning: truncated output [^\n]*\n)?"
    r"Output:\n"
    r"(?:Warning: truncated output \(original token count: \d+\)\nTotal output lines: \d+\n\n)?"
)


def split(text: str) -> Frame | None:
    """What follows `Output:`, and a notice that not all of it does."""
    head = _HEAD.match(text)
    return head and cut(text, (head.end(), len(text)), exit_code=head["code"] or head["exited"])
