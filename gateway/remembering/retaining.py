"""How long a tenant's sessions are kept: what goes takes its words out of the levels, too, and what it proved is marked."""

from __future__ import annotations

from pathlib import Path

from memory.L4_raw_sessions import telling
from memory.L4_raw_sessions.places import places_of
from memory.L4_raw_sessions.retention import Expired, retain
from memory.levels import Levels
from memory.roots import raw_folder


def let_go(
    root: Path, levels: Levels, now: float, *, days: float | None, size: int | None, dry_run: bool
) -> tuple[Expired, ...]:
    """Let go of what ended more than so many days ago, and of the oldest until the zips have that size; or say what would go."""
    places = places_of(raw_folder(root))
    gone = retain(places, now, days=days, size=size, dry_run=dry_run)
    if gone and not dry_run:
        left = {part.session for part in telling.sessions(l4_dir=places.folder)}
        for session in sorted({one.session for one in gone} - left):
            levels.forget(session)
    return gone
