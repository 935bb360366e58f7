"""What is left of sessions that were forgotten: a digest of the id, and how many messages there were.

The number is kept so that what a session says afterwards does not take the places of what pointers once pointed to.
"""

from __future__ import annotations

import hashlib
import os

from memory.L4_raw_sessions.places import Places

FILE = "forgotten.txt"


def forgotten_messages(places: Places, session: str) -> int | None:
    """How many messages of a session were forgotten; `None` where it never was."""
    try:
        lines = (places.folder / FILE).read_text(encoding="ascii").split("\n")
    except FileNotFoundError:
        return None
    digest = _digest(session)
    counts = [int(count) for name, _, count in (line.partition(" ") for line in lines) if name == digest and count]
    return counts[-1] if counts else None


def write_tombstone(places: Places, session: str, messages: int) -> None:
    """Note that a session was forgotten, with all messages that it had so far."""
    if forgotten_messages(places, session) == messages:
        return
    file = os.open(places.folder / FILE, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
    with open(file, "w", encoding="ascii") as lines:
        lines.write(f"{_digest(session)} {messages}\n")


def _digest(session: str) -> str:
    return hashlib.sha256(session.encode("utf-8", "backslashreplace")).hexdigest()
