"""Mistral Vibe: a large result is an excerpt between tags, with what becomes of the rest in front and behind."""

from __future__ import annotations

import re
from dataclasses import replace

from gateway.frames import Frame, Role, cut
from gateway.framings import json_result

ROLES: frozenset[Role] = frozenset({"tool"})

_HEAD = re.compile(r"<system>The tool output is large\.[^<]*</system>\n<truncated-output>\n")
_END = "\n</truncated-output>\n"


def split(text: str) -> Frame | None:
    """The output strings of an excerpt that is a whole report; all of an excerpt that is no JSON."""
    head = _HEAD.match(text)
    end = text.rfind(_END, head.end()) if head else -1
    if head is None or end < 0:
        return None
    start = head.end()
    excerpt = text[start:end]
    report = json_result.split(excerpt)
    if report is None:
        # timid: a report whose middle is left out is no JSON any more, and new lines would not be written as its are
        return Frame(bodies=()) if excerpt.startswith(("{", "[")) else cut(text, (start, end))
    bodies = (replace(body, start=body.start + start, end=body.end + start) for body in report.bodies)
    return replace(report, bodies=tuple(bodies))
