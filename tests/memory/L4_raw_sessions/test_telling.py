"""A session message by message, each with the pointer that leads back to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory import StoreError, resolve
from memory.L4_raw_sessions.telling import sessions, tell
from tests.memory.L4_raw_sessions.talks import Talks


@pytest.fixture
def talks(tmp_path: Path) -> Talks:
    """One session in two archived parts and a live one."""
    talks = Talks(tmp_path / "data")
    for word in ("one", "two"):
        talks.say("long", word, answer=f"well, {word}")
        talks.archive()
    talks.say("long", "three", answer=None)
    return talks


def test_nothing_is_stored(tmp_path: Path) -> None:
    """An unknown session is refused, and a list is empty; no folder is made."""
    with pytest.raises(StoreError, match="no session is called 'nix'"):
        tell("nix", l4_dir=tmp_path / "none")
    assert sessions(l4_dir=tmp_path / "none") == []
    assert list(tmp_path.iterdir()) == []


def test_each_message_once(talks: Talks) -> None:
    """In order, through all parts."""
    parts, messages = tell("long", l4_dir=talks.l4)
    assert [part.name is None for part in parts] == [False, False, True]
    assert [one.text for one in messages] == ["one", "well, one", "two", "well, two", "three"]


def test_pointers_lead_back(talks: Talks) -> None:
    """What a message is called resolves to that message."""
    for one in tell("long", l4_dir=talks.l4)[1]:
        told = resolve(f"L4:{one.name or one.session}#{one.ordinal}", l4_dir=talks.l4)
        assert told == one


def test_one_part(talks: Talks) -> None:
    """A name tells that part only."""
    name = sessions(l4_dir=talks.l4)[1].name
    assert name is not None
    _, messages = tell(name, l4_dir=talks.l4)
    assert [one.text for one in messages] == ["two", "well, two"]
