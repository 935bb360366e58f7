"""Content encodings: what a body was compressed with, undone, as far as it goes and no further than a limit."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import brotli  # type: ignore[import-untyped]
import zstandard


@dataclass(frozen=True, slots=True)
class Decoded:
    """The bytes that could be had, and what was wrong with the rest."""

    data: bytes
    problem: str | None = None


def decompress(data: bytes, encoding: str, limit: int) -> Decoded:
    """Undo a `content-encoding` header's encodings, last one first; stop above `limit` bytes."""
    problem = None
    for name in reversed([part.strip().lower() for part in encoding.split(",")]):
        if name in ("", "identity") or not data:
            continue
        try:
            decoded = _undo(name, data, limit)
        except (zlib.error, brotli.error, zstandard.ZstdError):
            return Decoded(b"", f"the body is not valid {name}")
        data, problem = decoded.data, problem or decoded.problem
    return Decoded(data, problem)


def _undo(name: str, data: bytes, limit: int) -> Decoded:
    match name:
        case "gzip" | "x-gzip":
            return _inflate(data, limit, 31)
        case "deflate":
            # named so by the standard with a zlib header, sent by some without
            return _inflate(data, limit, 15 if _has_zlib_header(data) else -15)
        case "br":
            return _unbrotli(data, limit)
        case "zstd":
            return _unzstd(data, limit)
    return Decoded(b"", f"unknown content encoding {name!r}")


def _has_zlib_header(data: bytes) -> bool:
    return data[0] & 15 == 8 and len(data) > 1 and (data[0] * 256 + data[1]) % 31 == 0


def _inflate(data: bytes, limit: int, wbits: int) -> Decoded:
    out = bytearray()
    while data:
        stream = zlib.decompressobj(wbits)
        try:
            out += stream.decompress(data, limit + 1 - len(out))
        except zlib.error:
            if not out:
                raise
            return Decoded(bytes(out), "the compressed body has trailing rubbish")
        if len(out) > limit:
            return Decoded(bytes(out[:limit]), f"larger than {limit} bytes")
        if not stream.eof:
            return Decoded(bytes(out), "the compressed body is cut short")
        data = stream.unused_data
    return Decoded(bytes(out))


def _unbrotli(data: bytes, limit: int) -> Decoded:
    stream = brotli.Decompressor()
    out: bytes = stream.process(data, output_buffer_limit=limit + 1)
    if len(out) > limit:
        return Decoded(out[:limit], f"larger than {limit} bytes")
    return Decoded(out, None if stream.is_finished() else "the compressed body is cut short")


def _unzstd(data: bytes, limit: int) -> Decoded:
    out = bytearray()
    while data:
        size = zstandard.frame_content_size(data)
        # a frame that says its size is held to it; another may hide 128 KB in every four bytes
        step = len(data) if 0 <= size <= limit else 1024
        stream = zstandard.ZstdDecompressor().decompressobj()
        at = 0
        while at < len(data) and not stream.eof and len(out) <= limit:
            out += stream.decompress(data[at : at + step])
            at += step
        if len(out) > limit:
            return Decoded(bytes(out[:limit]), f"larger than {limit} bytes")
        if not stream.eof:
            return Decoded(bytes(out), "the compressed body is cut short")
        data = stream.unused_data + data[at:]
    return Decoded(bytes(out))
