"""Content encodings: each is undone, broken ones as far as they go, large ones up to the limit."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable

import brotli  # type: ignore[import-untyped]
import pytest
import zstandard

from gateway.encodings import Decoded, decompress

PLAIN = bytes(range(256)) * 400 + b"end"


def raw_deflate(data: bytes) -> bytes:
    """Deflate without the zlib header, as some servers send it."""
    press = zlib.compressobj(wbits=-15)
    return press.compress(data) + press.flush()


def sizeless_zstd(data: bytes) -> bytes:
    """A zstd frame that does not say how much is in it."""
    press = zstandard.ZstdCompressor().compressobj()
    return press.compress(data) + press.flush()


CODINGS: list[tuple[str, Callable[[bytes], bytes]]] = [
    ("gzip", gzip.compress),
    ("X-GZIP", gzip.compress),
    ("deflate", zlib.compress),
    ("deflate", raw_deflate),
    ("br", brotli.compress),
    ("zstd", zstandard.compress),
    ("zstd", sizeless_zstd),
]
NAMED = [pytest.param(name, press, id=f"{name} by {press.__name__}") for name, press in CODINGS]


@pytest.mark.parametrize("encoding", ["", "identity", " Identity , identity"])
def test_nothing_to_undo(encoding: str) -> None:
    """Without an encoding the bytes are as they are."""
    assert decompress(PLAIN, encoding, 10) == Decoded(PLAIN)


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd", "deflate", "lzma"])
def test_empty_stays_empty(encoding: str) -> None:
    """No body is no body, whatever the header says."""
    assert decompress(b"", encoding, 10) == Decoded(b"")


def test_unknown_encoding() -> None:
    """What cannot be undone is named."""
    assert decompress(PLAIN, "lzma", 10) == Decoded(b"", "unknown content encoding 'lzma'")


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd", "deflate"])
def test_rubbish(encoding: str) -> None:
    """Bytes that are in no encoding give none, and say so."""
    assert decompress(b"\xff\xfe not compressed", encoding, 1000) == Decoded(b"", f"the body is not valid {encoding}")


@pytest.mark.parametrize(("encoding", "press"), NAMED)
def test_undone(encoding: str, press: Callable[[bytes], bytes]) -> None:
    """A whole body comes back."""
    assert decompress(press(PLAIN), encoding, len(PLAIN)) == Decoded(PLAIN)


@pytest.mark.parametrize(("encoding", "press"), NAMED)
def test_cut_short(encoding: str, press: Callable[[bytes], bytes]) -> None:
    """Of a body that broke off the beginning comes back, with a word about the rest."""
    pressed = press(PLAIN)
    decoded = decompress(pressed[:-1], encoding, len(PLAIN))
    assert PLAIN.startswith(decoded.data)
    assert decoded.problem == "the compressed body is cut short"


@pytest.mark.parametrize(("encoding", "press"), NAMED)
def test_limit(encoding: str, press: Callable[[bytes], bytes]) -> None:
    """No more than the limit comes out, however small the body is."""
    assert decompress(press(bytes(50_000_000)), encoding, 1000) == Decoded(bytes(1000), "larger than 1000 bytes")


@pytest.mark.parametrize(("encoding", "press"), [case for case in NAMED if case.values[0] in ("gzip", "zstd")])
def test_several_members(encoding: str, press: Callable[[bytes], bytes]) -> None:
    """Members that follow each other are one body."""
    assert decompress(press(PLAIN) + press(b"more"), encoding, 1 << 20) == Decoded(PLAIN + b"more")


def test_trailing_rubbish() -> None:
    """What follows a whole gzip member and is none is left out."""
    decoded = decompress(gzip.compress(PLAIN) + b"rubbish", "gzip", 1 << 20)
    assert decoded == Decoded(PLAIN, "the compressed body has trailing rubbish")


def test_several_encodings() -> None:
    """Encodings are undone from the last to the first."""
    assert decompress(brotli.compress(gzip.compress(PLAIN)), "gzip, br", 1 << 20) == Decoded(PLAIN)
