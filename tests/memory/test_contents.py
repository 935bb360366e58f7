"""Contents of the archive: each is there once, comes back whole, and takes nothing along that another one has."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from memory import contents
from memory.db import Database
from memory.migrations import migrate
from memory.rows import pack

PICTURE, OTHER = "A" * 3000, "B" * 3000


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    """A file of the archive's form."""
    opened = await Database.open(tmp_path / "archive.sqlite")
    await migrate(opened)
    yield opened
    await opened.aclose()


async def test_nothing_put_nothing_there(database: Database) -> None:
    """Neither putting nothing nor dropping what nobody knows is an error."""
    await contents.put(database, [])
    await contents.drop(database, ["b2:0"])
    assert await contents.read(database, "b2:0") is None


@pytest.mark.parametrize(
    "data",
    [b"", b"words", f"one {PICTURE} more".encode(), f"{PICTURE} {OTHER} {PICTURE}".encode()],
    ids=["nothing", "words", "a picture", "pictures, one of them twice"],
)
async def test_what_was_put_there_comes_back(data: bytes, database: Database) -> None:
    """With its blobs in their places, though it is put there twice."""
    await contents.put(database, [pack(data), pack(data)])
    assert await contents.read(database, pack(data).digest) == data


async def test_a_blob_goes_with_the_last_that_has_it(database: Database) -> None:
    """What another content shares stays."""
    one, other = pack(f"one {PICTURE}".encode()), pack(f"other {PICTURE} {OTHER}".encode())
    await contents.put(database, [one, other])
    await contents.drop(database, [other.digest])
    assert await contents.read(database, one.digest) == f"one {PICTURE}".encode()
    assert len(await database.column("SELECT digest FROM blobs")) == 1

    await contents.drop(database, [one.digest])
    for table in ("contents", "blobs", "inserts"):
        assert await database.rows(f"SELECT * FROM {table}") == []
