"""What is left of a session that was forgotten."""

from __future__ import annotations

import stat
from pathlib import Path

from memory.L4_raw_sessions.places import Places
from memory.L4_raw_sessions.tombstones import FILE, forgotten_messages, write_tombstone


def test_nothing_was_forgotten(tmp_path: Path) -> None:
    """No file, no answer."""
    assert forgotten_messages(Places(tmp_path), "a") is None


def test_the_number_but_not_the_id(tmp_path: Path) -> None:
    """The last number counts; nobody can read who it was."""
    places = Places(tmp_path)
    for messages in (3, 3, 5):
        write_tombstone(places, "session-a \ud800", messages)
    assert forgotten_messages(places, "session-a \ud800") == 5
    assert forgotten_messages(places, "b") is None
    lines = (tmp_path / FILE).read_text().splitlines()
    assert len(lines) == 2
    assert "session" not in lines[0]
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600


def test_a_torn_line_is_no_trouble(tmp_path: Path) -> None:
    """A crash may have cut it off."""
    places = Places(tmp_path)
    write_tombstone(places, "a", 3)
    with (tmp_path / FILE).open("a") as file:
        file.write((tmp_path / FILE).read_text()[:64])
    assert forgotten_messages(places, "a") == 3
