"""When a run is due: every twelve hours of wall time, whatever is restarted, and sooner after a failure."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory.L4_raw_sessions.files import lease
from memory.L4_raw_sessions.index import Index
from memory.L4_raw_sessions.places import Places
from memory.L4_raw_sessions.schedule import is_due, status
from tests.memory.L4_raw_sessions.archives import NOW, House, free


@pytest.fixture
def places(tmp_path: Path) -> Places:
    """An archive without a run."""
    return Places(tmp_path / "L4_raw_sessions")


def journal(places: Places, *runs: tuple[float, str]) -> None:
    """Write down runs with their starts and ends."""
    index = Index.open(places.index)
    for number, (started, state) in enumerate(runs):
        report = None if state == "running" else "{}"
        row = (f"run {number}", started, "Scan", state, report)
        index.rows("INSERT INTO runs (id, started, phase, state, report) VALUES (?, ?, ?, ?, ?)", row)
    index.close()


def test_the_first_run(places: Places) -> None:
    """It is due at once, and asking makes nothing."""
    assert is_due(places, NOW)
    assert status(places).state == ""
    assert not places.folder.exists()


@pytest.mark.parametrize(
    ("runs", "due", "not_due"),
    [
        pytest.param(["done"], 43_201, 43_200, id="twelve hours after a success, and not a second sooner"),
        pytest.param(["done", "done"], 43_201, 43_200, id="the last one counts"),
        pytest.param(["failed"], 301, 300, id="five minutes after a failure"),
        pytest.param(["done", "failed", "failed"], 901, 900, id="a quarter of an hour after two"),
        pytest.param(["failed"] * 3, 3601, 3600, id="an hour after three"),
        pytest.param(["failed"] * 9, 3601, 3600, id="an hour after any more"),
        pytest.param(["failed", "done"], 43_201, 43_200, id="a success ends the failures"),
        pytest.param(["done", "cut off"], 301, 300, id="one that was cut off is a failure"),
        pytest.param(["done", "running"], 301, 300, id="one that died without a word, too"),
    ],
)
def test_when_it_is_due(places: Places, runs: list[str], due: float, not_due: float) -> None:
    """By what the journal says; each run of the list began a second after the one before it."""
    last = NOW + len(runs) - 1
    journal(places, *((NOW + at, state) for at, state in enumerate(runs)))
    assert not is_due(places, last + not_due)
    assert is_due(places, last + due)


def test_a_run_that_is_under_way(places: Places) -> None:
    """No other is due beside it, however long it takes."""
    journal(places, (NOW, "running"))
    with lease(places.lock):
        assert not is_due(places, NOW + 10**9)
        assert status(places).state == "running"
    assert is_due(places, NOW + 10**9)


def test_a_clock_that_was_set_back(places: Places) -> None:
    """A last run that is yet to come does not stop the archive for as long as the clock is behind."""
    journal(places, (NOW, "done"))
    assert is_due(places, NOW - 86_400)


def test_an_index_that_cannot_be_read(places: Places) -> None:
    """The run that puts it aside is due."""
    places.folder.mkdir()
    places.index.write_bytes(b"not a database" * 1000)
    assert is_due(places, NOW)


def test_a_real_run_is_remembered(house: House) -> None:
    """Its report, and when the next one is."""
    house.log("1", free("one", "1"))
    house.run()
    told = status(Places(house.l4))
    assert (told.state, told.succeeded, told.failures, told.next) == ("done", NOW, 0, NOW + 43_200)
    assert told.report is not None
    assert told.report["new_sessions"] == 1
    assert "archived" not in told.report


def test_a_dry_run_is_no_run(house: House) -> None:
    """Looking does not put off the next one."""
    house.run(dry_run=True)
    assert status(Places(house.l4)).state == ""
