"""Files that are there whole or not at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from memory.L4_raw_sessions import files
from memory.L4_raw_sessions.files import is_held, lease, move


def test_to_another_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a file cannot be renamed it is copied, and goes only when the copy is whole."""
    source, target = tmp_path / "a", tmp_path / "b" / "c"
    source.write_bytes(b"content")

    def refuse(*_: object) -> None:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", refuse)
        patch.setattr(files, "settle", refuse)
        with pytest.raises(OSError, match="cross-device"):
            move(source, target)
    assert source.read_bytes() == b"content"
    assert not target.exists()
    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", refuse)
        move(source, target)
    assert target.read_bytes() == b"content"
    assert os.listdir(target.parent) == ["c"]
    assert not source.exists()


def test_what_is_not_there_cannot_be_moved(tmp_path: Path) -> None:
    """It is said."""
    with pytest.raises(FileNotFoundError):
        move(tmp_path / "a", tmp_path / "b")


def test_one_at_a_time(tmp_path: Path) -> None:
    """A lease is held by one, and free again after it."""
    path = tmp_path / "folder" / "lock"
    assert not is_held(path)
    with lease(path) as first, lease(path) as second:
        assert (first, second) == (True, False)
        assert is_held(path)
    assert not is_held(path)
    with lease(path) as third:
        assert third
