"""The steps of the archive's form: each once, in order, never backwards."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from memory import Archive, StoreError
from memory.db import Database
from memory.migrations import MIGRATIONS, migrate


def test_names() -> None:
    """The steps are numbered without a gap, so that their order cannot be mistaken."""
    assert [step.__name__[:4] for step in MIGRATIONS] == [f"m{k:03}" for k in range(1, len(MIGRATIONS) + 1)]


async def test_taken_once(tmp_path: Path) -> None:
    """Opening again takes no step again, and what was there stays."""
    database = await Database.open(tmp_path / "archive.sqlite")
    await migrate(database)
    await database.rows("INSERT INTO contents VALUES ('b2:0', x'00')")
    await migrate(database)
    assert await database.rows("SELECT name FROM migrations") == [(step.__name__,) for step in MIGRATIONS]
    assert await database.rows("SELECT count(*) FROM contents") == [(1,)]
    await database.aclose()


async def test_opened_at_once(tmp_path: Path) -> None:
    """Several that open a new archive at once all get it, whole."""
    archives = await asyncio.gather(*(Archive.open(tmp_path / "data") for _ in range(5)))
    for archive in archives:
        assert (await archive.totals()).requests == 0
        await archive.aclose()


async def test_step_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A step that fails half-way leaves the old form."""

    async def m002_broken(database: Database) -> None:
        await database.rows("CREATE TABLE half (x)")
        raise ZeroDivisionError

    database = await Database.open(tmp_path / "archive.sqlite")
    monkeypatch.setattr("memory.migrations.MIGRATIONS", (*MIGRATIONS, m002_broken))
    with pytest.raises(ZeroDivisionError):
        await migrate(database)
    assert await database.rows("SELECT count(*) FROM sqlite_schema") == [(0,)]
    await database.aclose()


async def test_newer_archive(tmp_path: Path) -> None:
    """An archive of a newer version is refused with what to do, and is not touched."""
    database = await Database.open(tmp_path / "archive.sqlite")
    await migrate(database)
    await database.rows("INSERT INTO migrations VALUES ('m999_later')")
    await database.aclose()
    with pytest.raises(StoreError, match="upgrade"):
        await Archive.open(tmp_path)
