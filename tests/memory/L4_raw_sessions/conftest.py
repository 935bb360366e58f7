"""A data folder to archive in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.memory.L4_raw_sessions.archives import House


@pytest.fixture
def house(tmp_path: Path) -> House:
    """An empty one."""
    return House(tmp_path / "data")
