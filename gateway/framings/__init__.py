"""How agents wrap terminal output: one module a wrapper, tried in the order of the table.

A framing splits the text of one tool result into wrapper and bodies; only bodies are ever rewritten, and `put` gives
the whole back with new bodies in the same encoding.
"""

from __future__ import annotations

from collections.abc import Mapping

from gateway.frames import Body, Frame, Framing, Role, put
from gateway.framings import (
    claude_code,
    cline,
    codex,
    continue_cli,
    copilot,
    crush,
    deepagents,
    droid,
    fenced,
    gemini,
    gptme,
    json_result,
    kill_terminalbench,
    mini_swe_agent,
    observation,
    opencode,
    openhands,
    pi,
    plain,
    roo,
    swe_agent,
    terminus,
    vibe,
)
from gateway.json_text import JsonStyle

__all__ = ["FRAMINGS", "Body", "Frame", "Framing", "JsonStyle", "Role", "find", "put", "split"]

FRAMINGS: Mapping[str, Framing] = {
    "json_result": json_result,
    "vibe": vibe,
    "cline": cline,
    "mini_swe_agent": mini_swe_agent,
    "codex": codex,
    "gemini": gemini,
    "roo": roo,
    "kill_terminalbench": kill_terminalbench,
    "fenced": fenced,
    "gptme": gptme,
    "continue_cli": continue_cli,
    "opencode": opencode,
    "terminus": terminus,
    "swe_agent": swe_agent,
    "observation": observation,
    "openhands": openhands,
    "copilot": copilot,
    "droid": droid,
    "deepagents": deepagents,
    "crush": crush,
    "pi": pi,
    "claude_code": claude_code,
    "plain": plain,
}


def find(text: str, role: Role) -> tuple[str, Frame] | None:
    """The first framing of the table that takes `text`, by name, and what it makes of it."""
    for name, framing in FRAMINGS.items():
        if role in framing.ROLES and (frame := framing.split(text)) is not None:
            return name, frame
    return None


def split(text: str, role: Role) -> Frame | None:
    """`text` split by the first framing that takes it; `None` for a user message that is in none."""
    found = find(text, role)
    return found and found[1]
