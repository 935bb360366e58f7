"""mini-swe-agent's text mode: `<returncode>0</returncode>`, then the output between tags, or its head and tail."""

from __future__ import annotations

import re

from gateway.frames import Frame, Role, cut

ROLES: frozenset[Role] = frozenset({"tool", "user"})

_HEAD = re.compile(r"<returncode>(-?\d+)</returncode>\n")


def split(text: str) -> Frame | None:
    """What stands between the tags; the note about elided characters stays outside."""
    head = _HEAD.match(text)
    if head is None:
        return None
    at = head.end()
    if text.startswith("<output>\n", at) and text.endswith("</output>"):
        return cut(text, (at + 9, len(text) - 9), exit_code=head[1])
    return None
