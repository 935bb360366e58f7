"""The forms that the archive's file has had: one function for each step, in order; the steps taken are recorded in it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from memory.db import OPEN_PATIENCE, Database
from memory.errors import StoreError

Migration = Callable[[Database], Awaitable[None]]


async def m001_initial(database: Database) -> None:
    """Messages once by hash, contents and blobs once by digest, exchanges, signals, rewrites in a chain."""
    for statement in _INITIAL.split(";\n"):
        if statement.strip():
            await database.rows(statement)


_INITIAL = """
CREATE TABLE contents (digest TEXT PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE blobs (digest TEXT PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE inserts (content TEXT NOT NULL, place INTEGER NOT NULL, ordinal INTEGER NOT NULL, blob TEXT NOT NULL,
  PRIMARY KEY (content, ordinal)) WITHOUT ROWID;
CREATE INDEX inserts_blob ON inserts (blob);
CREATE TABLE messages (hash TEXT PRIMARY KEY, parent TEXT, role TEXT NOT NULL, content TEXT, exact INTEGER NOT NULL);
CREATE INDEX messages_content ON messages (content);
CREATE TABLE uses (hash TEXT NOT NULL, session TEXT NOT NULL, PRIMARY KEY (hash, session)) WITHOUT ROWID;
CREATE INDEX uses_session ON uses (session);
CREATE TABLE exchanges (id TEXT PRIMARY KEY, session TEXT NOT NULL, parent_session TEXT, tenant TEXT NOT NULL,
  started REAL NOT NULL, first_byte REAL, ended REAL NOT NULL, method TEXT NOT NULL, path TEXT NOT NULL, shape TEXT,
  upstream TEXT NOT NULL, model TEXT, stream INTEGER NOT NULL, retry INTEGER NOT NULL, status INTEGER,
  outcome TEXT NOT NULL, error TEXT, tip TEXT, head TEXT, reply TEXT, reported TEXT, accounts TEXT NOT NULL,
  kept TEXT NOT NULL, rewritten INTEGER NOT NULL);
CREATE INDEX exchanges_session ON exchanges (session);
CREATE INDEX exchanges_ended ON exchanges (ended);
CREATE INDEX exchanges_head ON exchanges (head);
CREATE TABLE signals (exchange TEXT NOT NULL, name TEXT NOT NULL, key TEXT NOT NULL, rules TEXT NOT NULL,
  evidence TEXT NOT NULL, weight REAL NOT NULL);
CREATE INDEX signals_exchange ON signals (exchange);
CREATE TABLE rewrites (seq INTEGER PRIMARY KEY AUTOINCREMENT, facts TEXT NOT NULL, digest TEXT NOT NULL,
  exchange TEXT NOT NULL AS (json_extract(facts, '$.exchange')), session TEXT NOT NULL AS (json_extract(facts, '$.session')));
CREATE INDEX rewrites_session ON rewrites (session);
CREATE INDEX rewrites_exchange ON rewrites (exchange);
CREATE TABLE texts (rewrite INTEGER NOT NULL, ordinal INTEGER NOT NULL, tenant TEXT NOT NULL, recall TEXT, salt BLOB, data BLOB,
  PRIMARY KEY (rewrite, ordinal));
CREATE INDEX texts_recall ON texts (recall, tenant) WHERE recall IS NOT NULL;
"""

MIGRATIONS: tuple[Migration, ...] = (m001_initial,)


async def migrate(database: Database) -> None:
    """Bring the file to the newest form; two processes that open it at once do it once."""
    async with database.transaction(OPEN_PATIENCE):
        await database.rows("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY)")
        taken = {name for (name,) in await database.rows("SELECT name FROM migrations")}
        if unknown := taken - {step.__name__ for step in MIGRATIONS}:
            raise StoreError(f"the archive was written by a newer version ({min(unknown)}); upgrade taco-gateway")
        for step in MIGRATIONS:
            if step.__name__ not in taken:
                await step(database)
                await database.rows("INSERT INTO migrations (name) VALUES (?)", (step.__name__,))
