"""Counting: what of a request comes from the cache, and what is written into it."""

from __future__ import annotations

import pytest

from gateway.playing.counting import Prefixes, size
from gateway.playing.saying import Asked, Said, Usage

SAID = Said(number=0, text="x" * 40, reasoning="y" * 8, commands=("ls",))


def asked(*pieces: str, cacheable: int | None = None) -> Asked:
    """A request with these pieces."""
    return Asked(request={}, answers=0, told=(), tools=(), pieces=pieces, cacheable=cacheable)


@pytest.mark.parametrize(
    ("before", "now", "cached", "written"),
    [
        pytest.param(None, asked(), 0, 0, id="an empty request"),
        pytest.param(None, asked("aaaa", "bb"), 0, 0, id="what was never sent"),
        pytest.param(asked("zz", "aaaa"), asked("aaaa", "zz"), 0, 0, id="the same in another order"),
        pytest.param(asked("aaaa", "bb"), asked("aaaa", "cc"), 2, 0, id="a common beginning"),
        pytest.param(asked("aaaa", "bb"), asked("aaaa", "bb", "cc"), 3, 0, id="all that was sent before"),
        pytest.param(None, asked("aaaa", "bb", cacheable=0), 0, 0, id="nothing is marked"),
        pytest.param(None, asked("aaaa", "bb", cacheable=1), 0, 2, id="what is marked is written"),
        pytest.param(
            asked("aaaa", "bb", cacheable=1), asked("aaaa", "bb", cacheable=2), 2, 1, id="and read, up to the mark"
        ),
        pytest.param(
            asked("aaaa", cacheable=0), asked("aaaa", cacheable=1), 0, 2, id="what was not marked is not read"
        ),
    ],
)
def test_the_cache(before: Asked | None, now: Asked, cached: int, written: int) -> None:
    """The longest beginning that was sent before is read; where the client decides, only what it marked."""
    prefixes = Prefixes()
    if before:
        prefixes.count(before, SAID)
    usage = prefixes.count(now, SAID)
    assert usage == Usage(
        prompt=sum(map(size, now.pieces)), cached=cached, written=written, answer=11 + 3 + 1, reasoning=3
    )
