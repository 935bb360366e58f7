"""What a message says, and which of its strings it takes from tool results; see `rules_engine.evolution.use`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from gateway.cache import BoundedCache
from gateway.types import Message
from rules_engine.evolution.use import words

CACHED_CHARS = 32_000_000


class Quotes:
    """Finds quotations; the words of each text are looked for once."""

    def __init__(self) -> None:
        self._words: BoundedCache[str, frozenset[str]] = BoundedCache(CACHED_CHARS)

    def used(self, turn: str, observed: Iterable[str], said: Iterable[str]) -> frozenset[str]:
        """Words of a turn that stand in what was observed, and in nothing that anybody said."""
        return self.standing(self.standing(self._find(turn), observed), said, absent=True)

    def standing(self, strings: frozenset[str], texts: Iterable[str], *, absent: bool = False) -> frozenset[str]:
        """Those of the strings that stand in one of the texts, or, if asked so, in none."""
        found = frozenset().union(*(strings & self._find(text) for text in texts))
        return strings - found if absent else found

    def _find(self, text: str) -> frozenset[str]:
        known = self._words.get(text)
        if known is None:
            known = words(text)
            self._words.put(text, known, len(text) + 100)
        return known


def said(message: Message) -> str:
    """All that a message says, arguments of its calls included, as the words that they are."""
    calls = "\n".join(f"{call.tool} {call.arguments}" for call in message.calls)
    text = message.words.removesuffix(calls).removesuffix("\n")
    return "\n".join(
        [*filter(None, [text]), *(string for call in message.calls for string in _strings(call.arguments))]
    )


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
