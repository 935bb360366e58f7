"""The provider's paths, as clients come to write them: a base URL may have a slash too many, its version twice, or none."""

from __future__ import annotations

import re
from urllib.parse import unquote

from starlette.types import Scope

_BASE = re.compile(rb"/+(?:v1/+)+")
_BARE = re.compile(rb"/+((?:chat/completions|responses|messages|models|embeddings|completions)(?:/.*)?)", re.S)
"""What nobody else than a client that lacks the version asks for."""


def provided(scope: Scope) -> Scope | None:
    """The request with the path that is meant, where that is one of the provider's."""
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    path = meant(raw)
    if path is None or path == raw:
        return scope if path else None
    return {**scope, "raw_path": path, "path": unquote(path.decode("latin-1"))}


def meant(path: bytes) -> bytes | None:
    """The path under `/v1/`; `None` if it is none of the provider's."""
    base = _BASE.match(path)
    if base:
        return b"/v1/" + path[base.end() :]
    bare = _BARE.fullmatch(path)
    return b"/v1/" + bare[1] if bare else None
