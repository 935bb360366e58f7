"""Questions to the archive, asked by a command."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from gateway.commands.options import Refusal
from memory import Archive, StoreError

T = TypeVar("T")


def ask(data: Path, question: Callable[[Archive], Awaitable[T]]) -> T:
    """The answer of a data folder's archive. Refuses if there is none, or if it cannot be read."""
    if not (data / "archive.sqlite").exists():
        raise Refusal(f"{data}: nothing is recorded here yet; start `taco-gateway up`, or pass the folder with --data")
    try:
        return asyncio.run(_ask(data, question))
    except StoreError as error:
        raise Refusal(f"{error}; `taco-gateway doctor` tells more") from error


async def _ask(data: Path, question: Callable[[Archive], Awaitable[T]]) -> T:
    archive = await Archive.open(data)
    try:
        return await question(archive)
    finally:
        await archive.aclose()
