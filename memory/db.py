"""The one door to SQLite: opening a file, one transaction at a time, and its errors in our words."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Self

import aiosqlite

from memory.errors import StoreBusy, StoreCorrupt, StoreError

Row = tuple[Any, ...]

OPEN_PATIENCE = 5.0
"""Seconds that opening waits for another process which creates or recovers the same file."""

_WRITER = ("journal_mode=WAL", "synchronous=NORMAL", "journal_size_limit=33554432")

_ADVICE = {
    sqlite3.SQLITE_FULL: "free some space on the disk",
    sqlite3.SQLITE_READONLY: "make the file and its folder writable for the gateway",
    sqlite3.SQLITE_PERM: "make the file and its folder writable for the gateway",
    sqlite3.SQLITE_CANTOPEN: "check that the folder exists and is writable for the gateway",
    sqlite3.SQLITE_IOERR: "check the disk",
}


class Database:
    """One SQLite file through one connection of its own."""

    def __init__(self, path: Path, connection: aiosqlite.Connection) -> None:
        self._path = path
        self._connection = connection
        self._identity = _identity(path)
        self._lock = asyncio.Lock()

    @classmethod
    async def open(cls, path: Path, *, pragmas: Sequence[str] = (), create: bool = True) -> Self:
        """A connection that writes; the file comes into being readable for its owner only."""
        with translated(path):
            if create:
                make_file(path)
        return await cls._connect(path, "rw", (*pragmas, *_WRITER))

    @classmethod
    async def open_reader(cls, path: Path) -> Self:
        """A connection that cannot write, to a file that a writer has opened before."""
        return await cls._connect(path, "ro", ("query_only=ON",))

    @classmethod
    async def _connect(cls, path: Path, mode: str, pragmas: Sequence[str]) -> Self:
        with translated(path):
            connection = await aiosqlite.connect(_uri(path, mode), uri=True, isolation_level=None, timeout=0)
        database = cls(path, connection)
        try:
            for pragma in pragmas:
                await database.rows(f"PRAGMA {pragma}", patience=OPEN_PATIENCE)
            await database.rows("SELECT count(*) FROM sqlite_schema", patience=OPEN_PATIENCE)
        except BaseException:
            await database.aclose()
            raise
        return database

    async def rows(self, sql: str, parameters: Sequence[object] = (), *, patience: float = 0.0) -> list[Row]:
        """Run one statement; a lock that another holds is tried again for `patience` seconds."""
        until, pause = _now() + patience, 0.0005
        while True:
            try:
                with translated(self._path):
                    return [tuple(row) for row in await self._connection.execute_fetchall(sql, parameters)]
            except StoreBusy:
                if _now() + pause > until:
                    raise
            await asyncio.sleep(pause)
            pause = min(pause * 2, 0.01)

    async def column(self, sql: str, *parameters: object) -> list[Any]:
        """The first value of each row that a statement gives."""
        return [row[0] for row in await self.rows(sql, parameters)]

    async def run_many(self, sql: str, rows: Sequence[Sequence[object]]) -> None:
        """Run one statement for each row, in one step of the connection's thread."""
        if rows:  # asking the thread costs as much as a row
            with translated(self._path):
                await self._connection.executemany(sql, rows)

    async def changes(self) -> int:
        """How many rows this connection has changed since it was opened."""
        return self._connection.total_changes

    @asynccontextmanager
    async def transaction(self, patience: float) -> AsyncIterator[None]:
        """Write inside; all of it stays or, on any exception, none. Others wait for their turn, up to `patience`."""
        until = _now() + patience
        async with self._turn(patience):
            self._check_present()
            try:
                await self.rows("BEGIN IMMEDIATE", patience=until - _now())
                yield
                await self.rows("COMMIT")
            except BaseException:
                # A statement that was cancelled here still runs in its thread; the rollback queues up behind it.
                with translated(self._path):
                    await asyncio.shield(asyncio.ensure_future(self._connection.rollback()))
                raise

    @asynccontextmanager
    async def _turn(self, patience: float) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(patience):
                await self._lock.acquire()
        except TimeoutError:
            raise StoreBusy(f"{self._path}: an earlier transaction has not ended; the disk may be slow") from None
        try:
            yield
        finally:
            self._lock.release()

    async def write(self, sql: str, parameters: Sequence[object], patience: float) -> None:
        """Run one statement that is a transaction by itself; it waits for its turn, and for others, up to `patience`."""
        until = _now() + patience
        async with self._turn(patience):
            self._check_present()
            await self.rows(sql, parameters, patience=until - _now())

    async def truncate_log(self, patience: float) -> None:
        """Move all that is committed into the file and leave nothing in the log."""
        until = _now() + patience
        while (await self.rows("PRAGMA wal_checkpoint(TRUNCATE)", patience=patience))[0][0]:
            if _now() > until:
                raise StoreBusy(f"{self._path}: somebody reads the log; try again")
            await asyncio.sleep(0.01)

    def _check_present(self) -> None:
        # SQLite goes on writing to a file that was deleted, and all of it is lost with the process.
        if _identity(self._path) != self._identity:
            raise StoreError(f"{self._path}: the file was deleted or replaced; restart the gateway")

    async def aclose(self) -> None:
        """Wait for the transaction under way and close the file."""
        async with self._lock:
            with translated(self._path):
                await self._connection.close()


def _now() -> float:
    return asyncio.get_running_loop().time()


def make_file(path: Path) -> None:
    """Make an empty file that only its owner can read; one that is there stays."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    path.chmod(0o600)


def _uri(path: Path, mode: str) -> str:
    return f"{path.absolute().as_uri()}?mode={mode}"


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Errors of SQLite, and of the file, in our words."""
    try:
        yield
    except sqlite3.Error as error:
        raise _translate(path, error) from error
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}; {_ADVICE[sqlite3.SQLITE_CANTOPEN]}") from error
    except ValueError as error:
        # aiosqlite's way to say that the connection was closed
        raise StoreError(f"{path}: {error}") from error


def _translate(path: Path, error: sqlite3.Error) -> StoreError:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreBusy(f"{path}: another process holds it; try again")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return StoreCorrupt(f"{path}: {error}; move it away (a new one is made) or put back a copy of it")
    return StoreError(f"{path}: {error}" + (f"; {_ADVICE[code]}" if code in _ADVICE else ""))
