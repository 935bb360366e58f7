"""Work that grows with a text: done at once while it is short, in a thread where it would hold up other requests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

BODY = 2 << 20
"""Bytes of a request body that are read at once, in a few milliseconds: most of it was seen before."""
NEW_TEXT = 64_000
"""Characters of new observations that are decided about at once."""

P = ParamSpec("P")
T = TypeVar("T")


async def run(is_large: bool, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Do the work, in a thread if it is large; its caches are safe there."""
    if is_large:
        return await asyncio.to_thread(work, *args, **kwargs)
    return work(*args, **kwargs)
