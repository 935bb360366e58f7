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
    if "\r" not in line and "\b" not in line:
        return "".join([step[0] for step in _STEP.finditer(line) if not _is_unseen(step)]).rstrip(" ")
    cells: list[str] = []
    at = 0
    for step in _STEP.finditer(line):
        shown = step[0]
        if shown in ("\r", "\b"):
            at = 0 if shown == "\r" else max(at - 1, 0)
        elif _erases(step):
            cells[at:] = []
        elif not _is_unseen(step):
            cells.extend(" " * (at - len(cells)))
            cells[at : at + len(shown)] = shown
            at += len(shown)
    return "".join(cells).rstrip(" ")


def _erases(step: re.Match[str]) -> bool:
    """It clears what stands from here to the end of the line."""
    return step["final"] == "K" and step["params"] in ("", "0")


def _is_unseen(step: re.Match[str]) -> bool:
    """It is a code that leaves nothing to be seen where it stands."""
    if not step["code"]:
        return False
    if step["final"]:
        return step["final"] in _FINALS or _erases(step)
    return step["title"] is None or step["title"] in _TITLES
