"""Cline: a JSON array as text, one object with `query` and `result` for each command."""

from __future__ import annotations

import re

from gateway.frames import Frame, Role, cut_strings
from gateway.json_text import Member, read_list

ROLES: frozenset[Role] = frozenset({"tool"})

_FAILED = re.compile(r"Command exited with code (-?\d+)")


def split(text: str) -> Frame | None:
    """Each `result` is a body; the exit code is that of the first command that failed."""
    if not text.startswith('[{"query":'):
        return None
    items = read_list(text)
    if not items or any(not item.keys() >= {"query", "result", "success"} for item in items):
        return None
    bodies = cut_strings(text, (item["result"] for item in items))
    if bodies is None:
        return None
    queries = [str(item["query"].value) for item in items]
    return Frame(bodies=bodies, exit_code=_exit_code(items), command="\n".join(queries))


def _exit_code(items: list[dict[str, Member]]) -> int | None:
    if all(item["success"].value is True for item in items):
        return 0
    errors = (str(item["error"].value) for item in items if "error" in item)
    return next((int(found[1]) for error in errors if (found := _FAILED.search(error))), None)
