"""gptme: the command, then each stream in a fenced block, then the code of a failure."""

from __future__ import annotations

import re

from gateway.frames import Frame, Role, cut

ROLES: frozenset[Role] = frozenset({"tool"})

_HEAD = re.compile(r"Ran (?:allowlisted )?command: ?(?:`(?P<command>[^\n]*)`|\n```bash\n.*?\n```)\n\n", re.DOTALL)
_OPEN = re.compile(r"(`{3,})(stdout|stderr)\n")
_TAIL = re.compile(r"\n(`{3,})\n*(?:Return code: (?P<code>-?\d+)\n*)?\Z")
_WINDOW = 60


def split(text: str) -> Frame | None:
    """What stands in the blocks."""
    head = _HEAD.match(text)
    opened = _OPEN.match(text, head.end()) if head else None
    tail = _TAIL.search(text, max(opened.end() - 1, len(text) - _WINDOW)) if opened else None
    if head is None or opened is None or tail is None or tail[1] != opened[1]:
        return None
    second = f"\n{opened[1]}\n\n{opened[1]}stderr\n"
    at = text.find(second, opened.end() - 1, tail.start()) if opened[2] == "stdout" else -1
    spans = [(opened.end(), tail.start())] if at < 0 else [(opened.end(), at), (at + len(second), tail.start())]
    return cut(text, *spans, exit_code=tail["code"], command=head["command"])
