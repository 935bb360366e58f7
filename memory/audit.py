"""The chain of the audit: each rewrite is sealed together with all before it, and its texts by digests of their own.

    digest = H(digest of the row before, facts)        facts ∋ H(salt, text) for each text

A text can be forgotten, with its salt, and the chain still holds; a fact cannot be changed, nor a row left out.
"""

from __future__ import annotations

from hashlib import blake2b

from memory.canon import TAG, digest

GENESIS = digest(b"taco-gateway audit")
"""Stands before the first row."""


def link(previous: str, facts: str) -> str:
    """The digest of a row."""
    return digest(previous.encode() + b"\n" + facts.encode())


def seal(salt: bytes, text: bytes) -> str:
    """The digest of a text; whoever lacks the salt learns nothing about the text from it."""
    return TAG + blake2b(text, digest_size=16, salt=salt).hexdigest()
