"""OpenCode: a file or a directory between tags."""

from __future__ import annotations

import re

from gateway.frames import Frame, Role, cut

ROLES: frozenset[Role] = frozenset({"tool"})

_HEAD = re.compile(r"<path>[^\n]*</path>\n<type>\w+</type>\n<(content|entries)>\n?|<(file)>\n")


def split(text: str) -> Frame | None:
    """What stands between the tags."""
    if not text.startswith(("<path>", "<file>")):
        return None
    head = _HEAD.match(text)
    closing = f"</{head[1] or head[2]}>" if head else ""
    if head is None or not text.endswith(closing) or len(text) - len(closing) < head.end():
        return None
    return cut(text, (head.end(), len(text) - len(closing)))
