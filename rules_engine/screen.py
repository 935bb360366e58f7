"""What a terminal shows of one line: carriage returns, backspaces and codes carried out on a row of cells."""

from __future__ import annotations

import re
from collections.abc import Sequence

_MOVES = re.compile(r"[\r\x08]")
_CODE = r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\]\d+;[^\x07\x1b\n]*(?:\x07|\x1b\\)|[=>]|\([AB])"
_STEP = re.compile(rf"{_CODE}|[^\x1b\r\x08]+|[\r\x08\x1b]")
_ERASES = re.compile(r"\x1b\[0?[ -/]*K")
"""Codes that clear what stands from here to the end of the line."""
_UNSEEN = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[mhlnq]|\[0?[ -/]*K|\](?:[012]|133|633);[^\x07\x1b\n]*(?:\x07|\x1b\\)|[=>]|\([AB])"
)
"""Codes that leave nothing to be seen where they stand: they style, switch modes, ask, set a title, mark a prompt."""


def are_alike(lines: Sequence[str], others: Sequence[str]) -> bool:
    """Whether each of the lines stands as its counterpart in the end."""
    text, other = "\n".join(lines), "\n".join(others)
    if not _MOVES.search(text) and not _MOVES.search(other):
        # All lines at once: nothing that is unseen goes over the end of one.
        text, other = _UNSEEN.sub("", text), _UNSEEN.sub("", other)
        if text == other:
            return True
        lines, others = text.split("\n"), other.split("\n")
    return all(show(line) == show(counterpart) for line, counterpart in zip(lines, others, strict=True))


def show(line: str) -> str:
    """The line as it stands in the end; codes that take more than the line to follow stand for themselves."""
    if not _MOVES.search(line):
        return _UNSEEN.sub("", line).rstrip(" ")
    cells: list[str] = []
    at = 0
    for shown in _STEP.findall(line):
        if shown in ("\r", "\b"):
            at = 0 if shown == "\r" else max(at - 1, 0)
        elif _ERASES.fullmatch(shown):
            cells[at:] = []
        elif not _UNSEEN.fullmatch(shown):
            cells.extend(" " * (at - len(cells)))
            cells[at : at + len(shown)] = shown
            at += len(shown)
    return "".join(cells).rstrip(" ")
