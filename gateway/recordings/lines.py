"""The lines of a recording, packed or not."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import zstandard

from gateway.errors import said_by
from gateway.recordings.session import Lines, RecordingError

PACKED = {".gz": "gzip", ".zst": "zstd"}
"""What the endings of files say."""
_ERRORS = (OSError, EOFError, zlib.error, zstandard.ZstdError)


def read_lines(path: Path, heard: Callable[[int], None] = lambda size: None) -> Lines:
    """The lines that are not empty, with their numbers; `heard` is told how many bytes have been read.

    Raises `RecordingError`.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(_unpacked(file, path.suffix), 1):
                heard(file.tell())
                if line.strip():
                    yield number, line
    except _ERRORS as error:
        raise RecordingError(f"{path}: cannot be read: {said_by(error)}") from error


def plain_name(path: Path) -> str:
    """A file's name without its endings."""
    name = path.name.removesuffix(path.suffix) if path.suffix in PACKED else path.name
    return name.removesuffix(".jsonl")


def _unpacked(file: IO[bytes], ending: str) -> Iterator[bytes]:
    if PACKED.get(ending) == "gzip":
        with gzip.open(file) as unpacked:
            yield from unpacked
    elif PACKED.get(ending) == "zstd":
        with zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True) as reader:
            yield from io.BufferedReader(reader)
    else:
        yield from file
