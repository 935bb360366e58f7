"""mini-swe-agent's text mode: `<returncode>0</returncode>`, then the output between tags, or its head and tail."""

from __future__ import annotations

import re

from gateway.frames import Frame, Role, cut

ROLES: frozenset[Role] = frozenset({"tool", "user"})

_HEAD = re.compile(r"(?:<exception>[^<]*</exception>\n)?<returncode>(-?\d+)</returncode>\n")
_KILLED = re.compile(
    r"The last command <command>(?P<command>.*?)</command> timed out and has been killed\.\n"
    r"The output of the command was:\n *<output>\n",
    re.DOTALL,
)
_ASKED = "</output>\nPlease try another command and make sure to avoid those requiring interactive input."


def split(text: str) -> Frame | None:
    """What stands between the tags; the note about elided characters stays outside."""
    if text.startswith("The last command <command>"):
        return _split_killed(text)
    if not text.startswith("<") or (head := _HEAD.match(text)) is None:
        return None
    at = head.end()
    if text.startswith("<output>\n", at) and text.endswith("</output>"):
        return cut(text, (at + 9, len(text) - 9), exit_code=head[1])
    if text.startswith("<warning>\n", at) and text.endswith("</output_tail>"):
        return _split_long(text, at, head[1])
    return None


def _split_long(text: str, at: int, code: str) -> Frame | None:
    start = text.find("<output_head>\n", at) + 14
    end = text.find("</output_head>\n<elided_chars>", start)
    resume = text.find("</elided_chars>\n<output_tail>\n", end) + 30
    if start < 14 or end < 0 or resume < 30:
        return None
    return cut(text, (start, end), (resume, len(text) - 14), exit_code=code)


def _split_killed(text: str) -> Frame | None:
    head = _KILLED.match(text)
    if head is None or not text.endswith(_ASKED):
        return None
    return cut(text, (head.end(), len(text) - len(_ASKED)), command=head["command"])
