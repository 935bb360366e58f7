"""The one door to SQLite: transactions, patience, errors."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from memory.db import Database
from memory.errors import StoreBusy, StoreError


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    """An open file with one table."""
    opened = await Database.open(tmp_path / "a folder%20" / "file?.sqlite")
    await opened.rows("CREATE TABLE notes (text TEXT)")
    yield opened
    await opened.aclose()


async def notes(database: Database) -> list[str]:
    """What stands in the table."""
    return [text for (text,) in await database.rows("SELECT text FROM notes")]


async def write(database: Database, text: str, seconds: float = 0.0) -> None:
    """Write a note in a transaction that takes a while, and fails where there is no text."""
    async with database.transaction(1.0):
        await database.run_many("INSERT INTO notes VALUES (?)", [(text,)])
        await asyncio.sleep(seconds)
        if not text:
            raise ZeroDivisionError


async def test_exception_takes_everything_back(database: Database) -> None:
    """A transaction that fails leaves nothing, and the next one works."""
    with pytest.raises(ZeroDivisionError):
        await write(database, "")
    await write(database, "b")
    assert await notes(database) == ["b"]


async def test_cancelling_takes_everything_back(database: Database) -> None:
    """So does one that is cancelled in the middle of a statement."""
    for pause in range(20):
        writing = asyncio.ensure_future(write(database, "a", 1.0))
        for _ in range(pause):
            await asyncio.sleep(0)
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
    await write(database, "b")
    assert await notes(database) == ["b"]


async def test_one_transaction_at_a_time(database: Database) -> None:
    """A transaction that fails does not take the rows of another task with it."""
    await asyncio.gather(*(write(database, str(k), 0.001) for k in range(20)))
    assert sorted(await notes(database)) == sorted(map(str, range(20)))


async def test_patience_ends(database: Database) -> None:
    """Who waits for a turn longer than he can is told so."""
    slow = asyncio.ensure_future(write(database, "a", 0.2))
    await asyncio.sleep(0.02)
    with pytest.raises(StoreBusy):
        async with database.transaction(0.05):
            raise AssertionError("it was not our turn")
    await slow
    assert await notes(database) == ["a"]


async def test_one_statement_waits_for_its_turn(database: Database) -> None:
    """A statement by itself is no part of another's transaction: that one's failure does not take it back."""
    failing = asyncio.ensure_future(write(database, "", 0.02))
    await asyncio.sleep(0.005)
    await database.write("INSERT INTO notes VALUES (?)", ("a",), 1.0)
    with pytest.raises(ZeroDivisionError):
        await failing
    slow = asyncio.ensure_future(write(database, "b", 0.2))
    await asyncio.sleep(0.02)
    with pytest.raises(StoreBusy):
        await database.write("INSERT INTO notes VALUES (?)", ("late",), 0.05)
    await slow
    assert await notes(database) == ["a", "b"]


@pytest.mark.parametrize("by_itself", [True, False], ids=["one statement", "a transaction"])
async def test_a_file_that_was_deleted_is_not_written_to(database: Database, by_itself: bool) -> None:
    """SQLite would go on writing to it, and all of it would be lost."""
    database._path.unlink()
    with pytest.raises(StoreError, match="deleted or replaced"):
        await (database.write("INSERT INTO notes VALUES (?)", ("a",), 1.0) if by_itself else write(database, "a"))


async def test_reader_does_not_write(database: Database) -> None:
    """A reader sees what was committed and cannot change it."""
    await write(database, "a")
    reader = await Database.open_reader(database._path)
    assert await notes(reader) == ["a"]
    with pytest.raises(StoreError, match="readonly"):
        await reader.rows("DELETE FROM notes")
    await reader.aclose()


async def test_reader_waits_for_nobody(database: Database) -> None:
    """A reader is served beside an open transaction, with what was committed before it."""
    reader = await Database.open_reader(database._path)
    async with database.transaction(1.0):
        await database.run_many("INSERT INTO notes VALUES (?)", [("a",)])
        assert await notes(reader) == []
    assert await notes(reader) == ["a"]
    await reader.aclose()


async def test_statement_that_is_wrong(database: Database) -> None:
    """An error of SQLite comes in our words, with the file's name."""
    with pytest.raises(StoreError, match="no such table") as caught:
        await database.rows("SELECT * FROM missing")
    assert str(database._path) in str(caught.value)
    assert isinstance(caught.value.__cause__, sqlite3.Error)


async def test_emptying_the_log(database: Database) -> None:
    """After truncating, everything is in the file and nothing in the log; a reader in the way is reported."""
    await write(database, "a" * 10_000)
    log = database._path.with_name(database._path.name + "-wal")
    await database.truncate_log(1.0)
    assert len(log.read_bytes()) == 0
    reader = sqlite3.connect(database._path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM notes").fetchall()
    await write(database, "b")
    with pytest.raises(StoreBusy, match="try again"):
        await database.truncate_log(0.05)
    reader.close()
