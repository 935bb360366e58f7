"""Taking back what was said in a session: contents go, numbers and the chain of the audit stay."""

from __future__ import annotations

import json
from collections.abc import Sequence

from memory import contents
from memory.db import Database

# Clients choose ids of sessions: two tenants may have chosen the same.
_TENANT = "(?2 IS NULL OR tenant = ?2)"

_SAID = """WITH RECURSIVE up (hash) AS (SELECT tip FROM exchanges WHERE session = ?1 AND {0}
  UNION SELECT reply FROM exchanges WHERE session = ?1 AND {0}
  UNION SELECT parent FROM up JOIN messages USING (hash)) SELECT hash FROM up WHERE hash IS NOT NULL"""

# What was forgotten of another tenant has no head any more.
_OTHERS = _SAID.format("tenant <> ?2 AND head IS NOT NULL")
_THEIRS = f"(?2 IS NULL OR (hash IN ({_SAID.format('tenant = ?2')}) AND hash NOT IN ({_OTHERS})))"

# Messages of this session that no other session holds, nor another tenant's of the same id.
_OWN = f"""SELECT hash FROM uses WHERE session = ?1 AND {_THEIRS} AND NOT EXISTS (
  SELECT 1 FROM uses other WHERE other.hash = uses.hash AND other.session <> ?1)"""

_CONTENTS = f"""SELECT content FROM messages WHERE content IS NOT NULL AND hash IN ({_OWN})
  UNION SELECT head FROM exchanges WHERE session = ?1 AND {_TENANT} AND head IS NOT NULL"""

_ORPHANS = """SELECT value FROM json_each(?) WHERE NOT EXISTS (SELECT 1 FROM messages WHERE content = value)
  AND NOT EXISTS (SELECT 1 FROM exchanges WHERE head = value)"""

_BY_SESSION = (
    f"UPDATE messages SET content = NULL, exact = 0 WHERE content IS NOT NULL AND hash IN ({_OWN})",
    f"""UPDATE exchanges SET head = NULL, error = NULL, reported = NULL
      WHERE session = ?1 AND {_TENANT} AND coalesce(head, error, reported) IS NOT NULL""",
    f"""UPDATE signals SET evidence = '' WHERE evidence <> ''
      AND exchange IN (SELECT id FROM exchanges WHERE session = ?1 AND {_TENANT})""",
    f"""UPDATE texts SET salt = NULL, data = NULL WHERE data IS NOT NULL AND {_TENANT}
      AND rewrite IN (SELECT seq FROM rewrites WHERE session = ?1)""",
)

# What nobody has any more must go with the last who had it.
_USES = f"DELETE FROM uses WHERE session = ?1 AND {_THEIRS}"

_LOST = """UPDATE messages SET content = NULL, exact = 0 WHERE content IS NOT NULL AND hash IN (SELECT value FROM json_each(?2))
  AND NOT EXISTS (SELECT 1 FROM contents WHERE digest = content)
  AND NOT EXISTS (SELECT 1 FROM uses other WHERE other.hash = messages.hash AND other.session <> ?1)"""


async def forget(database: Database, session: str, tenant: str | None) -> int:
    """Empty the rows of a session, of one tenant only if one is given; how many were emptied or deleted.

    Call it inside a transaction.
    """
    before = await database.changes()
    candidates = await database.column(_CONTENTS, session, tenant)
    for statement in _BY_SESSION:
        await database.rows(statement, (session, tenant))
    await contents.drop(database, await database.column(_ORPHANS, json.dumps(candidates)))
    emptied = await database.changes() - before
    await database.rows(_USES, (session, tenant))
    return emptied


async def forget_lost(database: Database, session: str, messages: Sequence[str]) -> int:
    """Mark messages whose contents are nowhere any more, inside a transaction of the caller; how many."""
    before = await database.changes()
    await database.rows(_LOST, (session, json.dumps(messages)))
    return await database.changes() - before
