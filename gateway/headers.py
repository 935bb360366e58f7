"""Headers on their way through: which of them go on, whose key goes with them, and how their values are written."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from gateway.config import Upstream, secret
from gateway.errors import MissingKey
from gateway.network import is_here
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
_ANEW = frozenset({b"host", b"content-length", b"expect"})
_KEYS = frozenset({b"authorization", b"x-api-key", b"api-key", b"x-goog-api-key"})


def passing(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """The headers that are not about one connection only, nor between a client and a gateway; names in lower case."""
    lowered = tuple((name.lower(), value) for name, value in headers)
    named = (value for name, value in lowered if name == b"connection")
    dropped = _HOP_BY_HOP | {token.strip().lower() for value in named for token in value.split(b",")}
    return tuple(pair for pair in lowered if pair[0] not in dropped and not pair[0].startswith(b"x-taco-"))


def forwarded(headers: Headers, upstream: Upstream) -> Headers:
    """A request's headers as an upstream gets them: the client's, with one key at most. Raises `MissingKey`."""
    theirs = tuple(pair for pair in passing(headers) if pair[0] not in _ANEW)
    if upstream.client_key and any(map(_is_key, theirs)):
        return theirs
    ours = _our_key(upstream, headers)
    return (*(pair for pair in theirs if pair[0] not in _KEYS), *ours) if ours else theirs


def length_of(headers: Headers) -> Headers:
    """The header that says how long a body is, if the client knew it when it began to send."""
    if any(name == b"transfer-encoding" for name, _ in headers):
        return ()
    return tuple(pair for pair in headers if pair[0] == b"content-length")[:1]


def _is_key(header: tuple[bytes, bytes]) -> bool:
    """It holds a key, and not only the word before one: some clients send that where none is set."""
    name, value = header
    return name in _KEYS and value.strip().lower() not in (b"", b"bearer")


def _our_key(upstream: Upstream, headers: Headers) -> Headers:
    key = secret(upstream.key_env)
    if key is None and not upstream.client_key:
        raise MissingKey(f"upstream '{upstream.name}' needs a key: set {upstream.key_env or 'key_env'}")
    if key is None:
        return ()
    if not any(map(_is_key, headers)) and is_foreign(as_text(dict(headers).get(b"origin", b""))):
        raise MissingKey("a page of another site gets no key of ours: send your own")
    return (
        ((b"x-api-key", key.encode()),)
        if upstream.api == "anthropic"
        else ((b"authorization", b"Bearer " + key.encode()),)
    )


def is_foreign(origin: str) -> bool:
    """Whether a request is made by a web page that is not this machine's own: any page may have a browser ask us.

    `null` is said of pages that hide where they are from.
    """
    try:
        at = urlsplit(origin)
    except ValueError:
        return True
    return origin == "null" or (at.scheme in ("http", "https") and not is_here(at.hostname or ""))


def as_text(value: bytes) -> str:
    """A header's value as those who write UTF-8 give it back."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")
