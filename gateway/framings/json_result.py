"""A JSON object as text: mini-swe-agent in tool mode, Mistral Vibe, Hermes, pre.dev, the older Codex."""

from __future__ import annotations

from collections.abc import Mapping

from gateway.frames import Frame, Role, cut_strings
from gateway.json_text import Member, read_object

ROLES: frozenset[Role] = frozenset({"tool"})

_OUTPUTS = frozenset({"output", "output_head", "output_tail", "stdout", "stderr", "content"})
_CODES = ("returncode", "exit_code", "exitCode")
_SIGNS = frozenset({*_CODES, "tool_calls_made", "total_lines", "was_truncated"})
"""One of these says that a tool reports on its run, and that no program printed just this object."""
_CUT = '{"stdout":"'
"""So begins a report that may lack its end, where an agent cuts the JSON text itself."""


def split(text: str) -> Frame | None:
    """The output strings of an object that also says how the run went."""
    if not text.startswith("{") or not (text.startswith(_CUT) or any(f'"{sign}"' in text for sign in _SIGNS)):
        return None
    found = read_object(text)
    if found is None or text[found.end :].strip():
        return None
    members = found.members
    signed = found.whole and bool(members.keys() & _SIGNS or _codes(members))
    outputs = [member for key, member in members.items() if key in _OUTPUTS and member.value is not None]
    if not outputs or not (signed or text.startswith(_CUT)):
        return None
    bodies = cut_strings(text, outputs)
    if bodies is None:
        return None
    return Frame(bodies=bodies, exit_code=next(iter(_codes(members)), None), command=_command(members))


def _codes(members: Mapping[str, Member]) -> list[int]:
    inner = members["metadata"].value if "metadata" in members else None
    values = [members[key].value for key in _CODES if key in members]
    values.append(inner.get("exit_code") if isinstance(inner, dict) else None)
    return [value for value in values if type(value) is int]


def _command(members: Mapping[str, Member]) -> str | None:
    command = members.get("command")
    return command.value if command and command.closed and isinstance(command.value, str) else None
