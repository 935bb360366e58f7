"""How long sessions are kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory import Archive, ExchangeRecord, Logged, Message, RawLog, search_history
from memory.L4_raw_sessions.places import Places
from memory.L4_raw_sessions.retention import retain
from tests.memory.L4_raw_sessions.archives import APRIL, NOW, House, free

DAY = 86_400.0


@pytest.fixture
def places(house: House) -> Places:
    """An archive of three sessions: of April, of May, and of May ten days later."""
    for name, days in (("one", 0.0), ("two", 30.0), ("three", 40.0)):
        house.log(name, free(f"{name} " * 50, "ok", start=APRIL + days * DAY), now=NOW)
    house.run(now=NOW)
    return Places(house.l4)


def names(house: House) -> list[str]:
    """What is in the zips."""
    return sorted(name.partition(".zip/")[2][:4] for name in house.members())


@pytest.mark.parametrize(
    ("limits", "left"),
    [
        pytest.param({}, ["0403", "0503", "0513"], id="without a limit for ever"),
        pytest.param({"days": 1000.0}, ["0403", "0503", "0513"], id="none is that old"),
        pytest.param({"size": 10_000}, ["0403", "0503", "0513"], id="there is room"),
        pytest.param({"days": 20.0}, ["0503", "0513"], id="what is older goes"),
        pytest.param({"days": 5.0}, ["0513"], id="one of a month goes, another stays"),
        pytest.param({"days": 0.0, "size": 10**9}, [], id="either limit will do"),
        pytest.param({"size": 0}, [], id="no room at all"),
    ],
)
def test_what_is_kept(house: House, places: Places, limits: dict[str, float], left: list[str]) -> None:
    """By age or by size, the oldest first; a look changes nothing, and says the same."""
    now = APRIL + 41 * DAY
    before = names(house)
    told = retain(places, now, **limits)  # type: ignore[arg-type]
    assert names(house) == before
    gone = retain(places, now, dry_run=False, **limits)  # type: ignore[arg-type]
    assert gone == told
    assert names(house) == left
    assert len(gone) == 3 - len(left)
    assert [member[:4] for (member,) in house.rows("SELECT member FROM members ORDER BY ended")] == left
    assert len(search_history("[USER]", l4_dir=house.l4)) == len(left)
    assert retain(places, now, dry_run=False, **limits) == ()  # type: ignore[arg-type]


def test_only_as_many_as_have_to(house: House, places: Places) -> None:
    """The oldest goes when one has to."""
    sizes = [one.size for one in retain(places, NOW, size=0)]
    gone = retain(places, NOW, size=sum(sizes) - 1, dry_run=False)
    assert [one.name for one in gone] == ["2026-04/0403_2013-0403_2014"]
    assert names(house) == ["0503", "0513"]


@pytest.mark.parametrize("days", [0.0, 8.0, 365.0])
def test_nothing_stays_in_the_trash(house: House, places: Places, days: float) -> None:
    """The log of what was let go of goes with it, and later runs have nothing to complain of."""
    assert len(house.trash()) == 3
    retain(places, APRIL + 41 * DAY, days=20.0, dry_run=False)
    assert not any(b"one one" in data for data in house.trash())
    assert len(house.trash()) == 2
    assert house.run(now=NOW + days * DAY)["errors"] == []


def test_nothing_archived(tmp_path: Path) -> None:
    """There is nothing to let go of, and nothing is made."""
    assert retain(Places(tmp_path / "memory" / "L4_raw_sessions"), NOW, days=1.0, dry_run=False) == ()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("goes_on", [False, True])
async def test_what_the_archive_of_exchanges_holds(
    house: House, chain: Callable[..., tuple[Message, ...]], record: Callable[..., ExchangeRecord], goes_on: bool
) -> None:
    """It goes, too; what a session says that goes on stays."""
    archive = await Archive.open(house.root)
    both = Logged(archive, RawLog(house.root))
    history = chain("something old", "something new")
    await both.append([record("1", history[:1], started=APRIL, ended=APRIL)])
    house.run(now=NOW * 2)
    if goes_on:
        await both.append([record("2", history[1:], started=NOW, ended=NOW)])
    retain(Places(house.l4), NOW, size=0, dry_run=False)
    left = [message.content for message in await archive.chain(history[-1].hash)]
    assert left == ([b"", history[1].content] if goes_on else [])
    assert [message.content for message in await archive.chain(history[0].hash)] == [b""]
    assert (await archive.verify()).problems == ()
    await archive.aclose()


@pytest.mark.parametrize("limits", [{"days": -1.0}, {"size": -1}], ids=["days", "size"])
def test_less_than_nothing_lets_go_of_nothing(limits: dict[str, Any], tmp_path: Path) -> None:
    """It would mean everything."""
    with pytest.raises(ValueError, match="0 or more"):
        retain(Places(tmp_path), NOW, dry_run=False, **limits)
