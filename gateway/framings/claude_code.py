"""Claude Code: plain output, but for a failure's first line, the tags of long or background runs, and reminders."""

from __future__ import annotations

import re
from collections.abc import Mapping

from gateway.frames import Frame, Role, cut

ROLES: frozenset[Role] = frozenset({"tool"})

_HEAD = re.compile(
    r"Exit code (?P<failed>[1-9]\d*)\n"
    r"|<persisted-output>\nOutput too large [^\n]*\n\nPreview \([^\n]*\):\n"
    r"|<retrieval_status>[^<]*</retrieval_status>\n\n(?:<(?!output|exit_code)(\w+)>[^<]*</\2>\n\n)*"
    r"(?:<exit_code>(?P<code>-?\d+)</exit_code>\n\n)?<output>\n"
)
_CLOSED: Mapping[str, tuple[str, ...]] = {
    "<p": ("\n...\n</persisted-output>", "\n</persisted-output>"),
    "<r": ("</output>",),
}
_REMINDER, _REMINDED = "<system-reminder>", "</system-reminder>"


def split(text: str) -> Frame | None:
    """The output without tags; reminders at the end are the agent's words."""
    end = _end_of_output(text)
    head = _HEAD.match(text) if text.startswith(("Exit code ", "<persisted-output>", "<retrieval_status>")) else None
    if head is None:
        return cut(text, (0, end)) if end < len(text) else None
    for closing in _CLOSED.get(text[:2], ()):
        if text.endswith(closing, head.end(), end):
            return cut(text, (head.end(), end - len(closing)), exit_code=head["code"])
    return None if text[:2] in _CLOSED else cut(text, (head.end(), end), exit_code=head["failed"])


def _end_of_output(text: str) -> int:
    left = text.rstrip("\n")
    end = len(text)
    while left.endswith(_REMINDED):
        at = left.rfind(_REMINDER)
        # timid: a reminder inside a line is text of the file's.
        if at < 0 or (at > 0 and left[at - 1] != "\n"):
            break
        left = left[:at].rstrip("\n")
        end = len(left)
    return end
