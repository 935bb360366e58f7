"""A session that was forgotten and put back from a copy."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memory import forget, read_session, resolve
from memory.L4_raw_sessions.returning import take_back
from memory.L4_raw_sessions.tombstones import forgotten_messages
from tests.memory.L4_raw_sessions.archives import NOW, House, free
from tests.memory.L4_raw_sessions.talks import Talks


@pytest.fixture
def talks(tmp_path: Path) -> Talks:
    """Two exchanges, in a zip."""
    talks = Talks(tmp_path / "data")
    talks.say("mine", "one", answer="two")
    talks.say("mine", "three", answer="four")
    talks.archive()
    return talks


def put_back(talks: Talks, log: str) -> None:
    """A copy becomes a raw log, and is archived."""
    path = talks.root / "temp" / "model_responses" / "model_responses_copy.txt"
    path.write_text(log)
    os.utime(path, (talks.now, talks.now))
    assert talks.archive()["errors"] == []


def test_nothing_was_forgotten(talks: Talks, tmp_path: Path) -> None:
    """There is nothing to take back."""
    before = talks.files()
    assert take_back("mine", l4_dir=talks.l4) is None
    assert take_back("unknown", l4_dir=talks.l4) is None
    assert take_back("mine", l4_dir=tmp_path / "nowhere" / "memory" / "L4_raw_sessions") is None
    assert {name for name, data in talks.files().items() if before.get(name) != data and ".sqlite" not in name} == set()


def test_it_is_still_gone(talks: Talks) -> None:
    """What it says afterwards brings nothing back."""
    forget("mine", l4_dir=talks.l4)
    assert take_back("mine", l4_dir=talks.l4) is None
    talks.say("mine", "five")
    assert take_back("mine", l4_dir=talks.l4) is None
    assert forgotten_messages(talks.places, "mine") == 4


def test_only_a_part_of_it(talks: Talks) -> None:
    """Half a copy is not the session."""
    log = read_session("mine", l4_dir=talks.l4)
    forget("mine", l4_dir=talks.l4)
    put_back(talks, log[: log.index("=== Prompt", 20)])
    assert take_back("mine", l4_dir=talks.l4) is None
    assert resolve("L4:mine#0", l4_dir=talks.l4) is None


def test_all_of_it(talks: Talks) -> None:
    """Pointers lead where they led, what was said since keeps its place, and the archive can be asked for it again."""
    log = read_session("mine", l4_dir=talks.l4)
    forget("mine", l4_dir=talks.l4)
    talks.say("mine", "five", answer="six")
    put_back(talks, log)
    assert resolve("L4:mine#0", l4_dir=talks.l4) is None
    assert take_back("mine", l4_dir=talks.l4) == "mine"
    told = [resolve(f"L4:mine#{n}", l4_dir=talks.l4) for n in range(7)]
    assert [one.text if one else None for one in told] == ["one", "two", "three", "four", "five", "six", None]
    said = talks.ask(lambda archive: archive.conversation("mine"))
    assert [bool(message.content) for message in said] == [True] * 6
    assert talks.ask(lambda archive: archive.verify()).problems == ()
    assert take_back("mine", l4_dir=talks.l4) is None
    assert forget("mine", l4_dir=talks.l4).names
    assert not any(message.content for message in talks.ask(lambda archive: archive.conversation("mine")))


def test_a_log_of_others(house: House) -> None:
    """Where nothing was recorded the number of messages decides; the name of the session in its zip will do."""
    log = free("one", "two", "three", "four")
    house.log("mine", log)
    house.run()
    forget("model_responses_mine", l4_dir=house.l4)
    house.log("mine", log)
    house.run(now=NOW)
    assert take_back("2026-04/0403_2013-0403_2016", l4_dir=house.l4) == "model_responses_mine"
    told = resolve("L4:model_responses_mine#1", l4_dir=house.l4)
    assert told is not None
    assert told.text == "one"
