"""Letting go of contents that a verified zip holds: their messages keep their names, by which the zip is asked for them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from memory import contents
from memory.db import Database

PATIENCE = 5.0

BATCH = 200

SHARED = 50
"""Uses of a content that are looked at: one that more have is asked for often, and is kept once for all of them."""

PAGES = 1000
"""Free pages that are given back in one step."""

IsHeld = Callable[[str, str], bool]
"""(session, message) → whether a verified zip of that session holds the message."""

_STORED = "SELECT digest FROM contents WHERE digest IN (SELECT value FROM json_each(?))"

_USES = f"""SELECT value, hash, session FROM json_each(?) JOIN messages ON content = value LEFT JOIN uses USING (hash)
  WHERE (SELECT count(*) FROM (SELECT 1 FROM messages m JOIN uses u ON u.hash = m.hash WHERE m.content = value
    LIMIT {SHARED + 1})) <= {SHARED}"""

_COMMON = f"""SELECT value FROM json_each(?) WHERE (SELECT count(*) FROM (SELECT 1 FROM messages m JOIN uses u ON u.hash = m.hash
  WHERE m.content = value LIMIT {SHARED + 1})) > {SHARED}"""

_HEADS = "SELECT value FROM json_each(?1) WHERE EXISTS (SELECT 1 FROM exchanges WHERE head = value AND session <> ?2)"


async def let_go(database: Database, session: str, held: Mapping[str, str], is_held: IsHeld) -> int:
    """Some at a time, each time in one transaction; how many contents were dropped."""
    dropped, digests = 0, sorted(set(held.values()))
    for at in range(0, len(digests), BATCH):
        async with database.transaction(PATIENCE):
            stored = await database.column(_STORED, json.dumps(digests[at : at + BATCH]))
            free = await _free(database, session, stored, held, is_held)
            await contents.drop(database, free)
            dropped += len(free)
    return dropped


async def _free(
    database: Database, session: str, digests: Sequence[str], held: Mapping[str, str], is_held: IsHeld
) -> list[str]:
    """Those that nobody needs to have here."""
    named = json.dumps(digests)
    needed = {*await database.column(_COMMON, named), *await database.column(_HEADS, named, session)}
    for digest, message, user in await database.rows(_USES, (named,)):
        mine = user == session and held.get(message) == digest
        if digest not in needed and not mine and not (user and is_held(user, message)):
            needed.add(digest)
    return [digest for digest in digests if digest not in needed]


async def reclaim(database: Database) -> None:
    """Give free pages back to the disk. A file that was made before this could be done is written anew, once."""
    if await database.rows("PRAGMA auto_vacuum") == [(0,)]:
        await database.rows("VACUUM", patience=PATIENCE)
    while (free := await _count(database, "freelist_count")) > 0:
        async with database.transaction(PATIENCE):
            await database.rows(f"PRAGMA incremental_vacuum({PAGES})")
        if await _count(database, "freelist_count") >= free:
            break


async def _count(database: Database, pragma: str) -> int:
    return int((await database.rows(f"PRAGMA {pragma}"))[0][0])
