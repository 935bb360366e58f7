"""Retention and the levels above it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.remembering.retaining import let_go
from memory.levels import Evidence, Levels
from memory.levels.pointers import Pointer
from tests.memory.L4_raw_sessions.archives import APRIL, NOW, House, free

DAY = 86_400.0


@pytest.mark.parametrize(
    ("days", "dry_run", "gone"),
    [
        pytest.param(1000.0, False, False, id="none is that old"),
        pytest.param(20.0, True, False, id="a look marks nothing"),
        pytest.param(20.0, False, True, id="what went is marked"),
    ],
)
def test_what_it_proved(tmp_path: Path, days: float, dry_run: bool, gone: bool) -> None:
    """The fact stays, and says that its evidence is gone."""
    house = House(tmp_path)
    house.log("one", free("one " * 50, "ok", start=APRIL))
    house.log("two", free("two " * 50, "ok", start=APRIL + 30 * DAY))
    house.run(now=NOW)
    levels = Levels(tmp_path / "memory", lambda: NOW)
    proofs = [Evidence(pointer=Pointer(f"model_responses_{name}", 0)) for name in ("one", "two")]
    fact, _ = levels.put_fact("SAID", "something", by="gateway", evidence=proofs)
    let_go(tmp_path, levels, APRIL + 41 * DAY, days=days, size=None, dry_run=dry_run)
    why = levels.why(f"L2:{fact.id}")
    assert why is not None
    assert [link.gone for link in why.links] == [gone, False]
