"""Exchanges that still wait in spill files: they are stored before something is taken out, or it would come back with them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from memory.archive import Archive
from memory.errors import StoreError
from memory.L4_raw_sessions.catchup import home, is_recorded
from memory.L4_raw_sessions.places import Places
from memory.spill import FOLDER, Spill

T = TypeVar("T")


def take_in(places: Places) -> list[str]:
    """Store what waits; the files that cannot be looked into, with what to do."""
    found = home(places)
    if found is None or not is_recorded(places):
        return []
    spill = Spill(found[0] / FOLDER)
    try:
        wait_for(lambda: in_archive(found[0], lambda archive: spill.replay(archive.append)))
    except StoreError as error:
        return [f"what waits in {found[0] / FOLDER} could not be looked into: {error}"]
    return [f"{path}: a gateway holds it, or it cannot be read; try again when it is gone" for path in spill.left()]


def wait_for(question: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """The answer to what is asked asynchronously, whether a loop runs in this thread or not."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(question())).result()


async def in_archive(data: Path, question: Callable[[Archive], Coroutine[Any, Any, T]]) -> T:
    """Ask the archive of a data folder."""
    archive = await Archive.open(data)
    try:
        return await question(archive)
    finally:
        await archive.aclose()
