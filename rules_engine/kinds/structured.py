"""Line breaks and indents of JSON, which its brackets say as well."""

from __future__ import annotations

import json
import re
from json import JSONDecodeError

from rules_engine.kinds import Encoded
from rules_engine.natures import nature
from rules_engine.types import Observation

VERSION = 1

_ENOUGH = 20
"""At least a twentieth of the text goes."""
_STRING_OR_BREAK = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[ \t\r]*\n[ \t\r\n]*')


def encode(text: str, observation: Observation) -> Encoded | None:
    """Join the lines of a text that is one JSON object or array; blanks within a line stay."""
    body = text.strip()
    if "\n" not in body or body[0] + body[-1] not in ("{}", "[]") or nature(observation) != "structured":
        return None
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return None
    spans = [match.span() for match in _STRING_OR_BREAK.finditer(text) if match[0][0] != '"']
    if _ENOUGH * sum(end - start for start, end in spans) < len(text):
        return None
    return Encoded(edits=tuple((start, end, ()) for start, end in spans))


def verify(text: str, result: str, note: str) -> bool:
    """Parse both, with pairs in order and numbers as they are spelled, and compare; nothing but blanks may differ."""
    same = "".join(text.split()) == "".join(result.split())
    return same and _exact(text) == _exact(result)


def _exact(text: str) -> object:
    try:
        return json.loads(text, object_pairs_hook=tuple, parse_int=str, parse_float=str)
    except (JSONDecodeError, RecursionError):
        return text
