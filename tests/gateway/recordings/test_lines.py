"""Files as they lie there: packed, half written, gone."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import zstandard

from gateway.recordings import RecordingError, plain_name
from gateway.recordings.lines import read_lines

TEXT = b"one\n\n \ntwo\nthree"
LINES = [(1, b"one\n"), (4, b"two\n"), (5, b"three")]


@pytest.mark.parametrize("name", ["missing.jsonl", "bad.jsonl.gz", "half.jsonl.gz", "bad.jsonl.zst"])
def test_files_that_cannot_be_read(tmp_path: Path, name: str) -> None:
    """What is not there, not packed as its name says, or cut off is told as what it is."""
    (tmp_path / "bad.jsonl.gz").write_bytes(b"no gzip")
    (tmp_path / "half.jsonl.gz").write_bytes(gzip.compress(TEXT)[:-9])
    (tmp_path / "bad.jsonl.zst").write_bytes(b"no zstd")
    with pytest.raises(RecordingError, match=f"{name}: cannot be read"):
        list(read_lines(tmp_path / name))


@pytest.mark.parametrize(
    ("ending", "data"),
    [
        ("", TEXT),
        (".gz", gzip.compress(TEXT)),
        (".zst", zstandard.ZstdCompressor().compress(TEXT[:5]) + zstandard.ZstdCompressor().compress(TEXT[5:])),
    ],
    ids=["plain", "gzip", "zstd in two frames"],
)
def test_lines_are_read_as_they_are(tmp_path: Path, ending: str, data: bytes) -> None:
    """With their numbers, without those that say nothing, and what has been read is told in bytes of the file."""
    path = tmp_path / f"x.jsonl{ending}"
    path.write_bytes(data)
    heard: list[int] = []

    assert list(read_lines(path, heard.append)) == LINES
    assert heard[-1] == len(data)


@pytest.mark.parametrize("name", ["a.b.jsonl", "a.b.jsonl.gz", "a.b.jsonl.zst", "a.b"])
def test_names_go_without_endings(name: str) -> None:
    """Packed or not, it is the same recording."""
    assert plain_name(Path("folder") / name) == "a.b"
