"""What an agent's turn takes from tool results: strings that it quotes and can have from nowhere else.

A measure of use that needs no labels. Evidence that is read and not quoted escapes it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gateway.cache import BoundedCache

CACHED_CHARS = 32_000_000

_WORD = re.compile(r"[A-Za-z0-9_/.][\w./@+-]{2,}\w")
_TELLING = re.compile(r"[_/\d]|\w\.\w|[a-z][A-Z]")


class Quotes:
    """Finds quotations; the words of each text are looked for once."""

    def __init__(self) -> None:
        self._words: BoundedCache[str, frozenset[str]] = BoundedCache(CACHED_CHARS)

    def used(self, turn: str, observed: Iterable[str], said: Iterable[str]) -> frozenset[str]:
        """Words of a turn that stand in what was observed, and in nothing that anybody said."""
        return self.standing(self.standing(self.words(turn), observed), said, absent=True)

    def standing(self, words: frozenset[str], texts: Iterable[str], *, absent: bool = False) -> frozenset[str]:
        """Those of the words that stand in one of the texts, or, if asked so, in none."""
        found = frozenset().union(*(words & self.words(text) for text in texts))
        return words - found if absent else found

    def words(self, text: str) -> frozenset[str]:
        """Paths, identifiers, versions, numbers: words that are not of plain language."""
        known = self._words.get(text)
        if known is None:
            known = frozenset(word for word in _WORD.findall(text) if _TELLING.search(word))
            self._words.put(text, known, len(text) + 100)
        return known


def text_of(message: Mapping[str, Any]) -> str:
    """All that a message says, arguments of its calls included, as the words that they are."""
    content = message.get("content")
    parts = [part.get("text") for part in content if isinstance(part, dict)] if isinstance(content, list) else [content]
    return "\n".join([*(part for part in parts if isinstance(part, str)), *_arguments(message.get("tool_calls"))])


def _arguments(calls: object) -> Iterator[str]:
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        given = function.get("arguments") if isinstance(function, dict) else None
        if isinstance(given, str):
            yield from _strings(given)


def _strings(arguments: str) -> Iterator[str]:
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        value = arguments
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict | list):
            waiting += item.values() if isinstance(item, dict) else item
