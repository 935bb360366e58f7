"""Headers on their way through: which of them go on, and how their values are written."""

from __future__ import annotations

from collections.abc import Iterable

from gateway.types import Headers

_HOP_BY_HOP = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)


def passing(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """The headers that are not about one connection only, names in lower case."""
    lowered = tuple((name.lower(), value) for name, value in headers)
    named = (value for name, value in lowered if name == b"connection")
    dropped = _HOP_BY_HOP | {token.strip().lower() for value in named for token in value.split(b",")}
    return tuple(pair for pair in lowered if pair[0] not in dropped)


def as_text(value: bytes) -> str:
    """A header's value as those who write UTF-8 give it back."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")
