"""The few words of a text around what was looked for."""

from __future__ import annotations

import re
from itertools import islice

WIDTH = 240
"""Characters of a snippet, about."""

_BLANKS = re.compile(r"\s+")
_WORD = re.compile(r"[^\W_]+")


def snippet(text: str, query: str) -> str:
    """Where most of the words stand together; the beginning where none stands as it was typed."""
    lower = text.lower()
    # A text whose lower case is longer, as of "İ", is not worth a map between the two.
    words = {word for word in _WORD.findall(query.lower()) if word in lower}
    at = _best(lower, words) if len(lower) == len(text) else 0
    start = max(0, at - WIDTH // 4)
    start = text.rfind(" ", max(0, start - 20), start) + 1 if start else 0
    end = start + WIDTH
    cut = _BLANKS.sub(" ", text[start:end]).strip()
    return f"{'… ' if start else ''}{cut}{' …' if end < len(text) else ''}"


def _best(text: str, words: set[str]) -> int:
    """The place from which a snippet would hold most of the words: one of the first places of any of them."""
    places = [match.start() for word in words for match in islice(re.finditer(re.escape(word), text), 20)]
    return max(places, key=lambda at: (_held(text[at : at + WIDTH], words), -at), default=0)


def _held(text: str, words: set[str]) -> int:
    return sum(word in text for word in words)
