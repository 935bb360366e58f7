"""The way to an upstream that speaks the client's own format: the same bytes, over aiohttp."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from io import BytesIO

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from gateway.config import Upstream, secret
from gateway.errors import GatewayError, MissingKey, UpstreamBroke, UpstreamUnreachable
from gateway.types import Answer, Headers, Request

HOP_BY_HOP = frozenset(
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
_OURS = (b"host", b"content-length", b"expect")
_AUTOMATIC = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")
_KEYS = (b"authorization", b"x-api-key", b"api-key", b"x-goog-api-key")

_ERRORS: tuple[tuple[type[BaseException], str], ...] = (
    (aiohttp.ConnectionTimeoutError, "did not accept a connection in time"),
    (aiohttp.SocketTimeoutError, "was silent for too long"),
    (TimeoutError, "did not answer in time"),
    (aiohttp.ClientConnectorCertificateError, "has a certificate that cannot be trusted"),
    (aiohttp.ClientConnectorError, "cannot be reached"),
    (aiohttp.ClientError, "closed the connection without an answer"),
)


class Passthrough:
    """One upstream that gets requests as they are."""

    def __init__(self, upstream: Upstream, session: aiohttp.ClientSession) -> None:
        self._upstream = upstream
        self._session = session

    @classmethod
    async def open(cls, upstream: Upstream, connect_seconds: float, read_seconds: float) -> Passthrough:
        """Make ready to connect; nothing is sent yet."""
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=connect_seconds, sock_read=read_seconds)
        session = aiohttp.ClientSession(
            timeout=timeout,
            connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300),
            auto_decompress=False,
            skip_auto_headers=_AUTOMATIC,
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        return cls(upstream, session)

    async def send(self, request: Request) -> Answer:
        """Send the request to the same path under the upstream's URL."""
        url = URL(self._upstream.url + request.path.removeprefix("/v1"), encoded=True)
        try:
            response = await self._session.request(
                request.method,
                url,
                data=_data(request.body),
                headers=self._headers(request),
                allow_redirects=False,
            )
        except (aiohttp.ClientError, TimeoutError) as error:
            raise self._unreachable(error) from error
        return _Response(response, self._upstream.name)

    def _headers(self, request: Request) -> CIMultiDict[str]:
        out: CIMultiDict[str] = CIMultiDict()
        dropped = HOP_BY_HOP | _named_by_connection(request.headers)
        keys = [name for name, _ in request.headers if name in _KEYS]
        for name, value in request.headers:
            if name in dropped or name in _OURS or name.startswith(b"x-taco-"):
                continue
            if name in _KEYS and not self._upstream.client_key:
                continue
            out.add(name.decode("latin-1"), _text(value))
        if not keys or not self._upstream.client_key:
            self._add_key(out)
        return out

    def _add_key(self, out: CIMultiDict[str]) -> None:
        key = secret(self._upstream.key_env)
        if key is not None and self._upstream.api == "anthropic":
            out["x-api-key"] = key
        elif key is not None:
            out["authorization"] = f"Bearer {key}"
        elif not self._upstream.client_key:
            raise MissingKey(f"upstream '{self._upstream.name}' needs a key: set {self._upstream.key_env or 'key_env'}")

    def _unreachable(self, error: BaseException) -> GatewayError:
        what = next(words for kind, words in _ERRORS if isinstance(error, kind))
        return UpstreamUnreachable(
            f"upstream '{self._upstream.name}' ({self._upstream.url}) {what}; check that it runs and that the url is right"
        )

    async def aclose(self) -> None:
        """Close all connections."""
        await self._session.close()


class _Response:
    """An upstream's answer under way."""

    def __init__(self, response: aiohttp.ClientResponse, name: str) -> None:
        self._response = response
        self._name = name
        self.status = response.status
        dropped = HOP_BY_HOP | _named_by_connection(_lowered(response.raw_headers))
        self.headers: Headers = tuple(pair for pair in _lowered(response.raw_headers) if pair[0] not in dropped)

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The body's bytes as they arrive, still encoded."""
        try:
            async for chunk in self._response.content.iter_any():
                yield chunk
        except (aiohttp.ClientError, TimeoutError) as error:
            raise UpstreamBroke(f"upstream '{self._name}' broke off in the middle of its answer") from error

    async def aclose(self) -> None:
        """Give the connection back if the body has ended; else close it, which tells the upstream to stop."""
        self._response.close() if not self._response.content.at_eof() else self._response.release()


def _data(body: bytes | AsyncIterator[bytes]) -> object:
    """The body as aiohttp wants it: large ones in the manner of a file, which it writes piece by piece."""
    return BytesIO(body) if isinstance(body, bytes) and len(body) > 1 << 20 else body or None


def _text(value: bytes) -> str:
    """A header's value as aiohttp, which writes UTF-8, gives it back."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _lowered(headers: tuple[tuple[bytes, bytes], ...]) -> Headers:
    return tuple((name.lower(), value) for name, value in headers)


def _named_by_connection(headers: Headers) -> frozenset[bytes]:
    named = (value for name, value in headers if name == b"connection")
    return frozenset(token.strip().lower() for value in named for token in value.split(b","))
