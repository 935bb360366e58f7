"""An empty memory, and sessions in its archive."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from memory.levels import Levels

Put = Callable[..., str]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The folder of a memory, not yet there."""
    return tmp_path / "memory"


@pytest.fixture
def levels(root: Path) -> Levels:
    """Its upper levels; the clock stands."""
    return Levels(root, lambda: 100.0)


@pytest.fixture
def archived(root: Path) -> Put:
    """Put a session into a month's zip; its name for pointers."""

    def put(name: str = "0403_2013-0403_2145", month: str = "2026-04") -> str:
        folder = root / "L4_raw_sessions"
        folder.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(folder / f"{month}.zip", "a") as file:
            file.writestr(f"{name}.txt", "words")
        return f"{month}/{name}"

    return put
