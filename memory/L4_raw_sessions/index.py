"""`index.sqlite`: which sessions are in which zip, and the journal of the runs that put them there.

    runs ─1:n→ items (a raw log on its way)                                the journal; losing it costs time and nothing else
    members (a session, or a part of one, in a zip) ─1:n→ exchanges      can be made anew from the zips

`items.plan` and `runs.history` are JSON. A member is a row only when it was read back from its zip and found right; it is emptied
when the archive of exchanges holds nothing more of it (see `emptying`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from memory.db import make_file, translated
from memory.errors import StoreError
from memory.L4_raw_sessions.files import move
from memory.L4_raw_sessions.schema import EMPTIED, SEARCH

PATIENCE = 10.0
"""Seconds that a statement waits for another process."""

Row = tuple[Any, ...]

_PRAGMAS = (
    "auto_vacuum=INCREMENTAL",
    "journal_mode=WAL",
    "synchronous=NORMAL",
    "secure_delete=ON",
    "foreign_keys=ON",
    "journal_size_limit=33554432",
)


class Index:
    """The index through one connection. It waits where it is asked: use it in a thread or a process of its own."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the file, or make it, and bring it to the newest form. Raises `StoreError`, `StoreCorrupt`."""
        with translated(path):
            make_file(path)
            index = cls(path, _connect(f"{path.absolute().as_uri()}?mode=rw"))
        try:
            for pragma in _PRAGMAS:
                index.rows(f"PRAGMA {pragma}")
            index._migrate()
        except BaseException:
            index.close()
            raise
        return index

    @classmethod
    def open_reader(cls, path: Path) -> Self | None:
        """A connection that changes no file; `None` where there is no index yet."""
        if not path.exists():
            return None
        # Without a log nobody has it open, and to look for one would make one.
        mode = "mode=ro" if path.with_name(path.name + "-wal").exists() else "mode=ro&immutable=1"
        with translated(path):
            index = cls(path, _connect(f"{path.absolute().as_uri()}?{mode}"))
        try:
            ((version,),) = index.rows("PRAGMA user_version")
        except BaseException:
            index.close()
            raise
        if version:
            return index
        index.close()
        return None

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[Row]:
        """Run one statement."""
        with translated(self._path):
            return self._connection.execute(sql, parameters).fetchall()

    def run_many(self, sql: str, rows: Sequence[Sequence[object]]) -> None:
        """Run one statement for each row."""
        with translated(self._path):
            self._connection.executemany(sql, rows)

    @contextmanager
    def transaction(self, *, durable: bool = False) -> Iterator[None]:
        """Write inside; all of it stays or, on any exception, none.

        If it is durable, it and all before it survive a loss of power; else only the death of this process.
        """
        self.rows(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
        self.rows("BEGIN IMMEDIATE")
        try:
            yield
            self.rows("COMMIT")
        except BaseException:
            with translated(self._path):
                self._connection.rollback()
            raise

    def _migrate(self) -> None:
        if self.rows("PRAGMA user_version") == [(len(MIGRATIONS),)]:
            return  # a transaction would wait for the disk
        with self.transaction():
            ((version,),) = self.rows("PRAGMA user_version")
            if version > len(MIGRATIONS):
                raise StoreError(f"{self._path}: written by a newer version ({version}); upgrade taco-gateway")
            for script in MIGRATIONS[version:]:
                for statement in script.split(";\n"):
                    self.rows(statement)
            self.rows(f"PRAGMA user_version={len(MIGRATIONS)}")

    def close(self) -> None:
        """Close the file."""
        with translated(self._path):
            self._connection.close()


def put_aside(path: Path, target: Path) -> None:
    """Move an index that is damaged to where a person may look at it; its log goes, or the next index would take it for its own."""
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    move(path, target)


def _connect(uri: str) -> sqlite3.Connection:
    return sqlite3.connect(uri, uri=True, isolation_level=None, timeout=PATIENCE)


_INITIAL = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE runs (id TEXT PRIMARY KEY, started REAL NOT NULL, ended REAL, phase TEXT NOT NULL, state TEXT NOT NULL,
  history TEXT, report TEXT);
CREATE TABLE items (source TEXT PRIMARY KEY, run TEXT NOT NULL, state TEXT NOT NULL, inode INTEGER NOT NULL,
  size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, staged TEXT NOT NULL, plan TEXT NOT NULL);
CREATE TABLE sightings (source TEXT PRIMARY KEY, inode INTEGER NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
  since REAL NOT NULL);
CREATE TABLE members (id INTEGER PRIMARY KEY, zip TEXT NOT NULL, member TEXT NOT NULL, session TEXT NOT NULL,
  model TEXT, format TEXT NOT NULL, started REAL NOT NULL, ended REAL NOT NULL, messages INTEGER NOT NULL,
  size INTEGER NOT NULL, sha256 TEXT NOT NULL, raw_size INTEGER NOT NULL, raw_sha256 TEXT NOT NULL,
  history_at INTEGER, history_size INTEGER, UNIQUE (zip, member));
CREATE INDEX members_session ON members (session, started);
CREATE INDEX members_raw ON members (raw_sha256);
CREATE TABLE exchanges (key TEXT NOT NULL, member INTEGER NOT NULL REFERENCES members (id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL, id TEXT, PRIMARY KEY (key, member)) WITHOUT ROWID;
CREATE INDEX exchanges_member ON exchanges (member);
CREATE INDEX exchanges_id ON exchanges (id)
"""

MIGRATIONS = (_INITIAL, SEARCH, EMPTIED)
"""One script for each form that the file has had; how many were run stands in its `user_version`."""
