"""A JSON object as text: mini-swe-agent in tool mode, Mistral Vibe, pre.dev, Hermes, the older Codex."""

from __future__ import annotations

from collections.abc import Mapping

from gateway.frames import Body, Frame, Role
from gateway.json_text import Member, read_object, style_of

ROLES: frozenset[Role] = frozenset({"tool"})

_OUTPUTS = ("output", "output_head", "output_tail", "stdout", "stderr")
_CODES = ("returncode", "exit_code", "exitCode")


def split(text: str) -> Frame | None:
    """The output strings of an object that also says how the command ended."""
    if not text.startswith("{"):
        return None
    found = read_object(text)
    if found is None or text[found[1] :].strip():
        return None
    members = found[0]
    stated, code = _ending(members)
    outputs = sorted((members[key] for key in _OUTPUTS if key in members), key=lambda member: member.start)
    if not stated or not outputs:
        return None
    bodies = [_body(text, member) for member in outputs if member.value]
    command = members["command"].value if "command" in members else None
    kept = tuple(body for body in bodies if body is not None)
    if len(kept) < len(bodies):
        return None
    return Frame(bodies=kept, exit_code=code, command=command if isinstance(command, str) else None)


def _ending(members: Mapping[str, Member]) -> tuple[bool, int | None]:
    inner = members["metadata"].value if "metadata" in members else None
    values = [members[key].value for key in _CODES if key in members]
    if isinstance(inner, dict) and "exit_code" in inner:
        values.append(inner["exit_code"])
    code = values[0] if len(values) == 1 else None
    return len(values) == 1, code if type(code) is int else None


def _body(text: str, member: Member) -> Body | None:
    start, end = member.start + 1, member.end - 1
    if not isinstance(member.value, str):
        return None
    style = style_of(text[start:end], member.value)
    return None if style is None else Body(start=start, end=end, text=member.value, json=style)
