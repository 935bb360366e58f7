"""SWE-agent 0.x and its forks: the output, then the state of the editor and a prompt."""

from __future__ import annotations

import re

from gateway.frames import Frame, Role, cut

ROLES: frozenset[Role] = frozenset({"tool", "user"})

_PROMPT = "bash-$"
_STATE = re.compile(
    r"\n*(?:\(Current Step: [^\n]*\)\n)?\(Open file: [^\n]*\)\n\(Current directory: [^\n]*\)\nbash-\$\Z"
)


def split(text: str) -> Frame | None:
    """Everything before the state lines."""
    if not text.endswith(_PROMPT):
        return None
    at = text.rfind("(Open file: ")
    step = text.rfind("(Current Step: ", 0, at)
    if at < 0:
        return None
    state = _STATE.match(text, step) if step >= 0 else None
    if state is None:
        step, state = at, _STATE.match(text, at)
    return None if state is None else cut(text, (0, len(text[:step].rstrip("\n"))))
