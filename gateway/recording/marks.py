"""Cache marks in requests of Anthropic Messages: up to where, and how long, the provider keeps a prompt.

Others keep whole prompts, whether asked to or not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

BRIEF, HOUR = 300, 3600
"""Seconds for which a mark asks, without and with a `ttl` of an hour."""

_MARK = "cache_control"
_QUOTED = b'"cache_control"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """Up to where the marks of a prompt reach, in leading messages."""

    all: int
    hour: int
    """The same of those marks that ask for an hour."""

    def within(self, messages: int) -> Marked:
        """Those in so many leading messages."""
        return Marked(all=min(self.all, messages), hour=min(self.hour, messages))


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadMarks:
    """What stands before the messages asks for, in seconds; 0 where it does not."""

    itself: int
    """To be kept itself, its system or its tools."""
    last: int
    """That the provider takes its last message for marked, whichever that is."""


def of_message(content: bytes) -> int:
    """Seconds for which the marks in a message ask; 0 without any."""
    return _seconds(_read(content))


def of_head(content: bytes) -> HeadMarks:
    """The marks in a request without its messages."""
    head = _read(content)
    fields = head if isinstance(head, Mapping) else {}
    return HeadMarks(itself=max(_seconds(fields.get("system")), _seconds(fields.get("tools"))), last=_own(fields))


def reach(seconds: Sequence[int]) -> Marked:
    """How far the marks reach, by what each message asks for."""
    return Marked(
        all=max((k for k, asked in enumerate(seconds, 1) if asked), default=0),
        hour=max((k for k, asked in enumerate(seconds, 1) if asked == HOUR), default=0),
    )


def _read(content: bytes) -> object:
    if _QUOTED not in content:
        return None
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def _seconds(value: object) -> int:
    if isinstance(value, Mapping):
        return max(_own(value), _seconds(value.get("content")))
    return max(map(_seconds, value), default=0) if isinstance(value, list) else 0


def _own(part: Mapping[str, object]) -> int:
    mark = part.get(_MARK)
    if not isinstance(mark, Mapping):
        return 0
    return HOUR if mark.get("ttl") == "1h" else BRIEF
