"""The index made anew: equal to the one that was lost, from zips, histories and archive alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memory import StoreBusy, rebuild_index
from memory.L4_raw_sessions.files import lease
from memory.L4_raw_sessions.index import Index
from memory.L4_raw_sessions.search import searched
from tests.memory.L4_raw_sessions.archives import APRIL, House, free
from tests.memory.L4_raw_sessions.talks import Talks

QUESTIONS = {
    "members": """SELECT zip, member, session, model, format, started, ended, messages, size, sha256, raw_size, raw_sha256,
      history_at, history_size FROM members ORDER BY 1, 2""",
    "exchanges": "SELECT key, zip, members.member, ordinal, exchanges.id FROM exchanges JOIN members ON members.id = exchanges.member ORDER BY 1",
    "live": "SELECT session, model, started, ended, stale FROM live ORDER BY 1",
    "messages": """SELECT zip, members.member, live.session, ordinal, name, role, time, digest FROM messages
      JOIN texts ON texts.id = text LEFT JOIN members ON members.id = part LEFT JOIN live ON live.id = -part ORDER BY 1, 2, 3, 4""",
    "words": "SELECT digest FROM words JOIN texts ON texts.id = words.rowid WHERE words MATCH 'one OR two' ORDER BY 1",
}


def everything(talks: Talks) -> dict[str, list[Any]]:
    """What the index knows, whatever the numbers of its rows."""
    with searched(talks.places) as index:
        assert index is not None
        return {name: index.rows(sql) for name, sql in QUESTIONS.items()}


@pytest.fixture
def talks(tmp_path: Path) -> Talks:
    """Archived sessions, one that goes on, a live one, one of another's making."""
    talks = Talks(tmp_path / "data")
    talks.say("a", "one", answer="two")
    talks.say("b", "one too", answer=None)
    house = House(talks.root)
    house.log("free", free("what is one", "this", start=APRIL), now=talks.now)
    talks.archive()
    talks.say("a", "three")
    talks.say("c", "two")
    return talks


def test_nothing_to_make_it_from(tmp_path: Path) -> None:
    """An empty archive has an empty index."""
    rebuilt = rebuild_index(l4_dir=tmp_path / "l4")
    assert (rebuilt.members, rebuilt.live, rebuilt.messages, rebuilt.problems) == (0, 0, 0, ())


@pytest.mark.parametrize("lost", ["the index", "nothing", "its content"])
def test_it_is_equal(talks: Talks, lost: str) -> None:
    """Index deleted → rebuilt equal."""
    before = everything(talks)
    assert all(before.values())
    if lost == "the index":
        talks.places.index.unlink()
    elif lost == "its content":
        talks.places.index.write_bytes(b"\0" * 5000)
    rebuilt = rebuild_index(l4_dir=talks.l4)
    assert everything(talks) == before
    assert (rebuilt.members, rebuilt.live, rebuilt.problems) == (3, 2, ())
    assert list(talks.places.quarantine.glob("*")) == (
        [] if lost != "its content" else [talks.places.quarantine / "index.sqlite.1"]
    )


def test_the_archive_can_be_lost_too(talks: Talks) -> None:
    """What is in zips does not need it."""
    before = everything(talks)
    for path in talks.root.glob("archive.sqlite*"):
        path.unlink()
    talks.places.index.unlink()
    assert rebuild_index(l4_dir=talks.l4).members == 3
    assert everything(talks)["members"] == before["members"]


def test_the_journal_stays(talks: Talks) -> None:
    """Runs are remembered."""
    index = Index.open(talks.places.index)
    before = index.rows("SELECT * FROM runs")
    index.close()
    rebuild_index(l4_dir=talks.l4)
    index = Index.open(talks.places.index)
    assert index.rows("SELECT * FROM runs") == before
    index.close()


def test_a_damaged_zip_costs_only_its_month(talks: Talks) -> None:
    """It is named, and the rest is there."""
    first, _ = talks.places.zips()
    first.write_bytes(b"damaged")
    rebuilt = rebuild_index(l4_dir=talks.l4)
    assert rebuilt.members == 2
    assert first.name in rebuilt.problems[0]


def test_never_beside_a_run(talks: Talks) -> None:
    """Who asks is told to come back."""
    with lease(talks.places.lock), pytest.raises(StoreBusy, match="try again"):
        rebuild_index(l4_dir=talks.l4)
