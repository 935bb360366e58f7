"""Tokens of a request at four characters each, and what of them a provider has in its cache."""

from __future__ import annotations

from hashlib import blake2b

from gateway.playing.saying import Asked, Said, Usage


class Prefixes:
    """Beginnings that were sent before."""

    def __init__(self) -> None:
        self._seen: set[bytes] = set()

    def count(self, asked: Asked, said: Said) -> Usage:
        """Usage of an answer; the longest beginning that was sent before comes from the cache."""
        limit = len(asked.pieces) if asked.cacheable is None else asked.cacheable
        chain = blake2b(digest_size=16)
        prompt = cached = cacheable = 0
        for place, text in enumerate(asked.pieces):
            chain.update(text.encode("utf-8", "surrogatepass"))
            prompt += size(text)
            if place >= limit:
                continue
            cacheable = prompt
            if chain.digest() in self._seen:
                cached = prompt
            self._seen.add(chain.digest())
        return Usage(
            prompt=prompt,
            cached=cached,
            written=0 if asked.cacheable is None else cacheable - cached,
            answer=sum(size(text) for text in (said.text, said.reasoning, *said.commands)),
            reasoning=size(said.reasoning) if said.reasoning else 0,
        )


def size(text: str) -> int:
    """Tokens of a text."""
    return len(text) // 4 + 1
