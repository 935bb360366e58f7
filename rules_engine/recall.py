"""Giving back what was left out: which ids a command asks for, and the answer put in their place."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_ASKED = re.compile(r"\becho\s+[\"'\\]*recall:([0-9a-f]{6,32})\b")
_LINE = re.compile(r"^recall:([0-9a-f]{6,32})(?=\r?$)", re.M)


@dataclass(frozen=True, slots=True)
class Recalled:
    """The result of a call that asked for omitted text, with the answers in it."""

    text: str
    found: tuple[str, ...]
    unknown: tuple[str, ...]


def requested(command: str) -> tuple[str, ...]:
    """Ids that `command` asks for with ``echo recall:ID``, each once, in order."""
    if "recall:" not in command:
        return ()
    return tuple(dict.fromkeys(_ASKED.findall(command)))


def substitute(text: str, omitted: Mapping[str, str], ids: Sequence[str]) -> Recalled:
    """Replace each line of `text` that is exactly ``recall:ID``, for the requested `ids`, by the text omitted under it.

    A requested id that `omitted` does not know gets one final answer; everything else stays as it is.
    """
    found: list[str] = []
    unknown: list[str] = []

    def answer(match: re.Match[str]) -> str:
        name = match[1]
        if name not in ids:
            return match[0]
        (found if name in omitted else unknown).append(name)
        return omitted.get(name, unknown_answer(name))

    return Recalled(_LINE.sub(answer, text), tuple(dict.fromkeys(found)), tuple(dict.fromkeys(unknown)))


def unknown_answer(recall_id: str) -> str:
    """The line that says that nothing is kept under an id, and that asking again will not help."""
    return f"[nothing is kept under recall:{recall_id}, and asking again will not change that: run the command again]"
