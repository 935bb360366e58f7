"""SWE-agent 0.x and its forks: the output, then the state of the editor and a prompt."""

from __future__ import annotations

import re
from dataclasses import replace

from gateway.frames import Frame, Role, cut

ROLES: frozenset[Role] = frozenset({"tool", "user"})

_STATE = re.compile(
    r"\n*(?:\(Current Step: [^\n]*\)\n)?\(Open file: [^\n]*\)\n\(Current directory: [^\n]*\)\nbash-\$\Z"
)
_WINDOW = 1200


def split(text: str) -> Frame | None:
    """Everything before the state lines. The task in the first message ends with them, too: it is the caller who
    knows that no observation stands before the first answer."""
    if not text.endswith(")\nbash-$"):
        return None
    state = _STATE.search(text, max(0, len(text) - _WINDOW))
    return state and replace(cut(text, (0, state.start())), unasked=True)
