"""Taking back what was said in a session: contents go, numbers and the chain of the audit stay."""

from __future__ import annotations

import json

from memory.db import Database

# Clients choose ids of sessions: two tenants may have chosen the same.
_TENANT = "(?2 IS NULL OR tenant = ?2)"

_SAID = f"""WITH RECURSIVE up (hash) AS (SELECT tip FROM exchanges WHERE session = ?1 AND {_TENANT}
  UNION SELECT reply FROM exchanges WHERE session = ?1 AND {_TENANT}
  UNION SELECT parent FROM up JOIN messages USING (hash)) SELECT hash FROM up WHERE hash IS NOT NULL"""

# Messages of this session that no other session holds.
_OWN = f"""SELECT hash FROM uses WHERE session = ?1 AND (?2 IS NULL OR hash IN ({_SAID})) AND NOT EXISTS (
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

_BY_CONTENT = (
    "DELETE FROM contents WHERE digest IN (SELECT value FROM json_each(?1))",
    "DELETE FROM inserts WHERE content IN (SELECT value FROM json_each(?1))",
)

_BLOBS = "SELECT DISTINCT blob FROM inserts WHERE content IN (SELECT value FROM json_each(?))"

_BY_BLOB = """DELETE FROM blobs WHERE digest IN (SELECT value FROM json_each(?1))
  AND NOT EXISTS (SELECT 1 FROM inserts WHERE blob = digest)"""


async def forget(database: Database, session: str, tenant: str | None) -> int:
    """Empty the rows of a session (of one tenant only, if one is given), inside a transaction of the caller; how many were emptied or deleted."""
    before = await database.changes()
    candidates = await _column(database, _CONTENTS, session, tenant)
    for statement in _BY_SESSION:
        await database.rows(statement, (session, tenant))
    orphans = json.dumps(await _column(database, _ORPHANS, json.dumps(candidates)))
    blobs = json.dumps(await _column(database, _BLOBS, orphans))
    for statement in _BY_CONTENT:
        await database.rows(statement, (orphans,))
    await database.rows(_BY_BLOB, (blobs,))
    return await database.changes() - before


async def _column(database: Database, sql: str, *values: str | None) -> list[str]:
    return [row[0] for row in await database.rows(sql, values)]
