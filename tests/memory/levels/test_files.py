"""Files that are replaced whole, and lines that are added whole."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from memory import StoreCorrupt, StoreError
from memory.levels.files import append_lines, read_text, remove, replace_text, writing


def test_a_file_that_is_not_there_is_empty(tmp_path: Path) -> None:
    """Nobody has to make one before reading."""
    assert read_text(tmp_path / "none") == ""


def test_what_is_no_text_is_named(tmp_path: Path) -> None:
    """With the byte, and what to do."""
    (tmp_path / "bad").write_bytes(b"ok \xff")
    with pytest.raises(StoreCorrupt, match="at byte 3; mend"):
        read_text(tmp_path / "bad")


def test_line_breaks_stay_what_they_are(tmp_path: Path) -> None:
    """CR, too: what is read is what was written."""
    replace_text(tmp_path / "a", "one\r\ntwo\r")
    assert read_text(tmp_path / "a") == "one\r\ntwo\r"


def test_files_are_their_owners(tmp_path: Path) -> None:
    """Nobody else may read them, nor their folder."""
    replace_text(tmp_path / "new" / "a", "x")
    append_lines(tmp_path / "new" / "b", ["x"])

    modes = [path.stat().st_mode & 0o777 for path in (tmp_path / "new", tmp_path / "new/a", tmp_path / "new/b")]
    assert modes == [0o700, 0o600, 0o600]


def test_a_full_disk_leaves_the_old_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says so, and no draft stays behind."""
    replace_text(tmp_path / "a", "old")

    def full(file: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match="No space left on device; nothing was changed"):
        replace_text(tmp_path / "a", "new")
    monkeypatch.undo()

    assert read_text(tmp_path / "a") == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """A file stands in its place."""
    (tmp_path / "memory").write_text("a file")
    with pytest.raises(StoreError, match="memory"), writing(tmp_path / "memory"):
        pass


def test_a_torn_line_is_closed_before_the_next(tmp_path: Path) -> None:
    """A crash spoils one line, not two."""
    file = tmp_path / "lines"
    append_lines(file, ["one"])
    file.write_text(file.read_text() + '{"half')
    append_lines(file, ["two", "three"])

    assert file.read_text() == 'one\n{"half\ntwo\nthree\n'


def test_what_is_not_there_can_be_removed(tmp_path: Path) -> None:
    """Twice is once."""
    replace_text(tmp_path / "a", "x")
    remove(tmp_path / "a")
    remove(tmp_path / "a")

    assert list(tmp_path.iterdir()) == []


def test_only_one_writes_at_a_time(tmp_path: Path) -> None:
    """No increment is lost, whoever does it."""
    file = tmp_path / "count"

    def count() -> None:
        for _ in range(20):
            with writing(tmp_path):
                replace_text(file, str(int(read_text(file) or 0) + 1))

    threads: list[Any] = [Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert read_text(file) == "80"
