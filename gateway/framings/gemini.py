"""Gemini CLI and its fork Qwen Code: labelled lines around the output."""

from __future__ import annotations

import re

from gateway.frames import Frame, Role, cut

ROLES: frozenset[Role] = frozenset({"tool"})

_LONG = re.compile(
    r"Tool output was too large and has been truncated\.\n(?:[^\n]*\n){1,8}?Truncated part of the output:\n"
    r"|Output too large\. Showing first [^\n]*\n"
)
_HEAD = re.compile(
    r"(?:<untrusted_context>\n)?(?:Command: (?P<command>.*?)\nDirectory: [^\n]*\n)?(?:Output|Stdout): ?", re.DOTALL
)
_TAIL = re.compile(
    r"(?:\nExit Code: (?P<code>[^\n]*))?(?:\nSignal: [^\n]*)?(?:\nBackground PIDs: [^\n]*)?"
    r"\nProcess Group PGID: [^\n]*(?:\n</untrusted_context>)?\Z"
)
_WINDOW = 400
_NOTHING = ("(empty)", "(none)")


def split(text: str) -> Frame | None:
    """The output, and what stands after `Stderr:` and `Error:`."""
    if not text.startswith(("Command: ", "Output", "<untrusted_context>\n", "Tool output was too large")):
        return None
    long = _LONG.match(text)
    head = _HEAD.match(text, long.end() if long else 0)
    tail = _TAIL.search(text, max(head.end() if head else 0, len(text) - _WINDOW))
    if head is None or tail is None:
        return None
    start, end = head.end(), tail.start()
    failed = _find_label(text, "\nError: ", start, end)
    warned = _find_label(text, "\nStderr: ", start, failed)
    spans = (start, warned), (warned + 9, failed), (failed + 8, end)
    told = [span for span in spans if span[0] < span[1] and text[slice(*span)] not in _NOTHING]
    code = tail["code"]
    return cut(text, *told, exit_code=code if code and code.lstrip("-").isdigit() else None, command=head["command"])


def _find_label(text: str, label: str, start: int, end: int) -> int:
    at = text.rfind(label, start, end)
    return end if at < 0 else at
