"""What a terminal shows of one line: carriage returns, backspaces and codes carried out on a row of cells."""

from __future__ import annotations

import re

_STEP = re.compile(
    r"(?P<code>\x1b\[(?P<params>[0-?]*)[ -/]*(?P<final>[@-~])"
    r"|\x1b\](?P<title>\d+);[^\x07\x1b\n]*(?:\x07|\x1b\\)|\x1b(?:[=>]|\([AB]))"
    r"|(?P<text>[^\x1b\r\x08]+)|[\r\x08\x1b]"
)
_MOVES = re.compile(r"[\x1b\r\x08]")
_FINALS = frozenset("mhlnq")
"""Of codes that style, switch modes or ask."""
_TITLES = frozenset(("0", "1", "2", "133", "633"))
"""Numbers of codes that set the window's title or mark the prompt."""


def show(line: str) -> str:
    """The line as it stands in the end; codes that take more than the line to follow stand for themselves."""
    if not _MOVES.search(line):
        return line.rstrip(" ")
    cells: list[str] = []
    at = 0
    for step in _STEP.finditer(line):
        shown = step[0]
        if shown in ("\r", "\b"):
            at = 0 if shown == "\r" else max(at - 1, 0)
        elif step["final"] == "K" and step["params"] in ("", "0"):
            cells[at:] = []
        elif not step["code"] or not _is_silent(step):
            cells.extend(" " * (at - len(cells)))
            cells[at : at + len(shown)] = shown
            at += len(shown)
    return "".join(cells).rstrip(" ")


def _is_silent(code: re.Match[str]) -> bool:
    if code["final"]:
        return code["final"] in _FINALS
    return code["title"] is None or code["title"] in _TITLES
