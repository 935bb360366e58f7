"""What a gateway forgets of its decisions, and what it keeps."""

from __future__ import annotations

from contextlib import aclosing
from pathlib import Path

import pytest

from gateway.app import build
from gateway.config import Store
from memory import Decisions
from tests.service import configured

DAY = 86_400.0


@pytest.mark.parametrize(("days", "left"), [(0, {"old", "new"}), (90, {"new"})], ids=["kept for ever", "by default"])
async def test_decisions_that_nobody_used_for_long_are_forgotten(days: int, left: set[str], tmp_path: Path) -> None:
    """At the latest when a gateway ends, however short its life was."""
    async with aclosing(await Decisions.open(tmp_path / "decisions.sqlite")) as decisions:
        await (await decisions.choose([("old", b"1")], 5.0)).committed()
        await decisions.expire(1000, 0)
        await (await decisions.choose([("new", b"2")], 5.0)).committed()
    config = configured("http://127.0.0.1:9", store=Store(decision_days=days))
    async with build(config, tmp_path, clock=lambda: 1091 * DAY):
        pass
    async with aclosing(await Decisions.open(tmp_path / "decisions.sqlite")) as decisions:
        assert (await decisions.find(["old", "new"])).keys() == left
