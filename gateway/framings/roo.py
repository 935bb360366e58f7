"""Roo Code: where the command ran and how it ended, then `Output:` and the output."""

from __future__ import annotations

import re

from gateway.frames import Frame, Role, cut

ROLES: frozenset[Role] = frozenset({"tool", "user"})

_HEAD = re.compile(
    r"Command executed in terminal +within working directory '[^\n]*'\. "
    r"(?:Command execution was not successful, [^\n]*\n)?"
    r"(?:Exit code: (?:(?P<code>-?\d+)|<[^\n]*)|Process terminated by signal [^\n]*)\nOutput:\n"
)


def split(text: str) -> Frame | None:
    """What follows `Output:`."""
    head = _HEAD.match(text)
    return head and cut(text, (head.end(), len(text)), exit_code=head["code"])
