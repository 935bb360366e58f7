"""A data folder with memories: an archived session, one that was archived and goes on, a live one, a fact that one proves."""

from __future__ import annotations

from pathlib import Path

from memory.levels import Archived, Evidence, Levels, Pointer, Witness
from tests.memory.L4_raw_sessions.talks import Talks

OLD, GOING, LIVE = "old", "going", "live/s-1"
NAME = "2026-05/0501_0147-0501_0147"
"""Of the session `OLD`."""


def remember(data: Path) -> Talks:
    """Fill the folder."""
    talks = Talks(data)
    talks.say(OLD, "Where is the 数据库?", answer={"role": "assistant", "content": "needle: in /srv/shop.db"})
    talks.say(GOING, "needle one", answer="needle two")
    talks.archive()
    talks.say(GOING, {"role": "tool", "content": "needle three\n" + "long line\n" * 3000}, answer=None)
    talks.say(LIVE, "The connection was refused", answer="so it was")
    levels = Levels(data / "memory", lambda: talks.now)
    levels.start()
    levels.archived([Archived(id=OLD, name=NAME, keys=("shop",))])
    proof = Evidence(pointer=Pointer(OLD, 1), quote="in /srv/shop.db")
    levels.put_fact("PLACES", "the shop keeps its data in one file", by="gateway", evidence=[proof])
    levels.put_procedure("mend_shop", "---\ntrigger: the shop is down\n---\n1. Look at the log.\n", by="person")
    witness = Witness(pointer=Pointer(GOING, 2), quote="needle three", message="needle three\n", succeeded=True)
    levels.propose("L2", "NEEDLES", "the third needle is the last", [witness])
    return talks
