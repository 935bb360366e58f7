"""Canonical JSON and tagged hashes: the same message has the same name in every process."""

from __future__ import annotations

import json
from hashlib import blake2b

TAG = "b2:"


def canonical(value: object) -> bytes:
    """The one JSON text of a parsed value: keys sorted, no blanks, ASCII only."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()


def digest(data: bytes) -> str:
    """Name of a content by its bytes, tagged with the algorithm."""
    return TAG + blake2b(data, digest_size=16).hexdigest()


def message_hash(parent: str | None, content: bytes) -> str:
    """Name of a message by its canonical bytes and by all that came before it."""
    return TAG + blake2b((parent or "").encode() + b"\n" + content, digest_size=16).hexdigest()
