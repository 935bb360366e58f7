"""The index: made once, brought up to date, read without leaving a trace."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from memory import StoreCorrupt, StoreError
from memory.L4_raw_sessions.index import MIGRATIONS, Index


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the index is to be."""
    return tmp_path / "L4_raw_sessions" / "index.sqlite"


def test_reading_makes_nothing(path: Path) -> None:
    """Where there is no index, asking for it does not make one."""
    assert Index.open_reader(path) is None
    assert not path.parent.exists()


def test_made_private_and_in_the_newest_form(path: Path) -> None:
    """Only its owner can read it, and opening it again changes nothing."""
    Index.open(path).close()
    index = Index.open(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert index.rows("PRAGMA user_version") == [(len(MIGRATIONS),)]
    assert index.rows("PRAGMA auto_vacuum") == [(2,)]
    index.close()


@pytest.mark.parametrize("open_elsewhere", [False, True], ids=["nobody has it open", "another connection has it open"])
def test_a_reader_leaves_no_trace(path: Path, open_elsewhere: bool) -> None:
    """A look at the index makes and changes no file, and sees what was committed."""
    writer = Index.open(path)
    with writer.transaction():
        writer.rows("INSERT INTO facts VALUES ('a', '1')")
    if not open_elsewhere:
        writer.close()
    before = sorted(os.listdir(path.parent))
    reader = Index.open_reader(path)
    assert reader is not None
    assert reader.rows("SELECT value FROM facts") == [("1",)]
    with pytest.raises(StoreError):
        reader.rows("INSERT INTO facts VALUES ('b', '2')")
    reader.close()
    assert sorted(os.listdir(path.parent)) == before
    if open_elsewhere:
        writer.close()


def test_a_transaction_is_all_or_nothing(path: Path) -> None:
    """What was written before an exception is not there afterwards."""
    index = Index.open(path)

    def fail() -> None:
        with index.transaction():
            index.rows("INSERT INTO facts VALUES ('a', '1')")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert index.rows("SELECT * FROM facts") == []
    index.close()


def test_a_file_of_a_later_version_is_left_alone(path: Path) -> None:
    """It is not read by what cannot know its form."""
    index = Index.open(path)
    index.rows("PRAGMA user_version=999")
    index.close()
    with pytest.raises(StoreError, match="newer version"):
        Index.open(path)


def test_what_is_no_index_is_said_to_be_corrupt(path: Path) -> None:
    """A damaged file is an error of its own kind: the index can be made anew from the zips."""
    path.parent.mkdir()
    path.write_bytes(b"no database at all" * 1000)
    with pytest.raises(StoreCorrupt):
        Index.open(path)
    with pytest.raises(StoreCorrupt):
        Index.open_reader(path)
