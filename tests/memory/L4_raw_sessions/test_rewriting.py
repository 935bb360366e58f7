"""Changing a zip or the histories: what is not meant stays byte for byte, and the old file is there until the new one is whole."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

from memory import StoreError
from memory.L4_raw_sessions.rewriting import blank_blocks, rewrite_lines, rewrite_zip
from memory.L4_raw_sessions.zips import facts_of


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Three members, each with a fact."""
    path = tmp_path / "2026-05.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("a", "b", "c"):
            info = zipfile.ZipInfo(name, (2026, 5, 1, 2, 3, 4))
            info.comment = b'{"session": "%b"}' % name.encode()
            archive.writestr(info, name * 1000)
    return path


def members(path: Path) -> dict[str, bytes]:
    """What is in a zip."""
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def shout(source: Any, target: Any) -> dict[str, Any]:
    """A change."""
    target.write(source.read().upper())
    return {"session": "B"}


def test_nothing_to_change(path: Path) -> None:
    """Members, their facts and their times stay."""
    before = members(path), facts_of(path)
    rewrite_zip(path, {})
    assert (members(path), facts_of(path)) == before
    with zipfile.ZipFile(path) as archive:
        assert {info.date_time for info in archive.infolist()} == {(2026, 5, 1, 2, 3, 4)}


def test_one_is_changed_and_one_is_taken_out(path: Path) -> None:
    """The third is as it was."""
    rewrite_zip(path, {"a": None, "b": shout, "absent": None})
    assert members(path) == {"b": b"B" * 1000, "c": b"c" * 1000}
    assert facts_of(path) == {"b": {"session": "B"}, "c": {"session": "c"}}
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(path.parent.iterdir()) == [path]


def test_a_zip_with_nothing_in_it_goes(path: Path) -> None:
    """An empty one would be taken for damaged by some."""
    rewrite_zip(path, dict.fromkeys("abc"))
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize("trouble", ["in a change", "on the disk"])
def test_the_old_one_stays_where_the_new_one_is_not_whole(path: Path, trouble: str) -> None:
    """Whatever goes wrong on the way."""

    def fail(*_: Any) -> Any:
        raise StoreError("it failed")

    before = path.read_bytes()
    with pytest.MonkeyPatch.context() as patch:
        if trouble == "on the disk":
            patch.setattr("memory.L4_raw_sessions.rewriting.find_trouble", lambda _: "unreadable")
        with pytest.raises(StoreError):
            rewrite_zip(path, {"b": fail if trouble == "in a change" else shout})
    assert path.read_bytes() == before


def test_blocks_become_empty_lines(tmp_path: Path) -> None:
    """And the others stay where they are; without any the file is not touched."""
    path = tmp_path / "all_histories.txt"
    path.write_bytes(b"one\ntwo\nthree\n")
    inode = path.stat().st_ino
    blank_blocks(path, [])
    assert path.stat().st_ino == inode
    blank_blocks(path, [(4, 4)])
    assert path.read_bytes() == b"one\n\n\n\n\nthree\n"


def test_lines_are_changed_in_place(tmp_path: Path) -> None:
    """Where none changes, or there is no file, nothing is written."""
    path = tmp_path / "all_histories.txt"
    assert rewrite_lines(path, bytes.upper) == 0
    path.write_bytes(b"ONE\nTWO\n")
    inode = path.stat().st_ino
    assert rewrite_lines(path, bytes.upper) == 0
    assert path.stat().st_ino == inode
    assert rewrite_lines(path, bytes.lower) == 2
    assert path.read_bytes() == b"one\ntwo\n"
    shutil.rmtree(tmp_path)
