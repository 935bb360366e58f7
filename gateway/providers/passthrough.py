"""The way to an upstream that speaks the client's own format: the same bytes, over aiohttp."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from gateway.channels import Socket, refuse_redirect
from gateway.config import Upstream
from gateway.errors import GatewayError, UpgradeRefused, UpstreamBroke, UpstreamUnreachable
from gateway.headers import as_text, forwarded, length_of, passing
from gateway.network import open_socket, proxy_to, trusted
from gateway.types import Answer, Channel, Headers, Request

_AUTOMATIC = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")
_TOLD = ("retry-after", "x-request-id", "x-ratelimit-", "openai-", "www-authenticate")
"""Headers of a refusal that the client gets."""
_HEAD, _HEADERS = 256 << 10, 1000
"""Bytes of a header of an answer, and how many it may have."""
_STALE = 2.0  # seconds within which a kept connection that the upstream had closed is known to be gone

_CHECK = "check that it runs and that the url is right"
_PROXY = "check HTTPS_PROXY and NO_PROXY"
_AUTHORITY = "set SSL_CERT_FILE to the file of its authority, or check the url"
_ERRORS: tuple[tuple[type[BaseException], str, str], ...] = (
    (aiohttp.ConnectionTimeoutError, "did not accept a connection in time", _CHECK),
    (aiohttp.SocketTimeoutError, "was silent for too long", "raise server.read_seconds if it needs longer"),
    (TimeoutError, "did not answer in time", _CHECK),
    (aiohttp.ClientConnectorCertificateError, "has a certificate that cannot be trusted", _AUTHORITY),
    (aiohttp.ClientProxyConnectionError, "is behind a proxy that cannot be reached", _PROXY),
    (aiohttp.ClientHttpProxyError, "is behind a proxy that lets nobody through to it", _PROXY),
    (aiohttp.ClientConnectorError, "cannot be reached", _CHECK),
    (aiohttp.ClientResponseError, "gave an answer that is no HTTP", _CHECK),
    (aiohttp.ClientError, "closed the connection without an answer", _CHECK),
)
"""What goes wrong, in which words, and what to do."""


@dataclass(slots=True)
class _Attempt:
    began: float
    kept: bool = False
    """It goes over a connection that an earlier request had opened."""


class Passthrough:
    """One upstream that gets requests as they are."""

    def __init__(self, upstream: Upstream, session: aiohttp.ClientSession) -> None:
        self._upstream = upstream
        self._session = session

    @classmethod
    async def open(cls, upstream: Upstream, connect_seconds: float, read_seconds: float) -> Passthrough:
        """Make ready to connect; nothing is sent yet."""
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=connect_seconds, sock_read=read_seconds)
        tracing = aiohttp.TraceConfig()
        tracing.on_connection_reuseconn.append(_note_kept)
        tracing.on_request_redirect.append(refuse_redirect)
        session = aiohttp.ClientSession(
            timeout=timeout,
            connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=30, ssl=trusted(), socket_factory=open_socket),
            proxy=proxy_to(upstream.url),
            auto_decompress=False,
            skip_auto_headers=_AUTOMATIC,
            cookie_jar=aiohttp.DummyCookieJar(),
            trace_configs=[tracing],
            max_line_size=_HEAD,
            max_field_size=_HEAD,
            max_headers=_HEADERS,
            ws_response_class=Socket,
        )
        return cls(upstream, session)

    async def send(self, request: Request) -> Answer:
        """Send the request to the same path under the upstream's URL."""
        while True:
            attempt = _Attempt(time.monotonic())
            try:
                response = await self._session.request(
                    request.method,
                    self._url(request),
                    data=_data(request.body),
                    headers=self._headers(request),
                    allow_redirects=False,
                    trace_request_ctx=attempt,
                )
            except (aiohttp.ClientError, TimeoutError) as error:
                if not _never_arrived(error, attempt, request):
                    raise self._unreachable(error) from error
            else:
                return _Response(response, self._upstream.name)

    async def connect(self, request: Request, protocols: Sequence[str]) -> Channel:
        """Open a WebSocket at the same path under the upstream's URL. Raises `UpgradeRefused`."""
        try:
            socket = await self._session.ws_connect(
                self._url(request), headers=self._headers(request), protocols=protocols, max_msg_size=0
            )
        except aiohttp.WSServerHandshakeError as error:
            said = ((k.lower(), v.encode("utf-8", "replace")) for k, v in (error.headers or {}).items())
            told = tuple((k.encode(), v) for k, v in said if k.startswith(_TOLD))
            raise UpgradeRefused(f"upstream '{self._upstream.name}' refused a WebSocket", error.status, told) from error
        except (aiohttp.ClientError, TimeoutError) as error:
            raise self._unreachable(error) from error
        assert isinstance(socket, Socket)
        return socket

    def _url(self, request: Request) -> URL:
        return URL(self._upstream.url.rstrip("/") + request.path.removeprefix("/v1"), encoded=True)

    def _headers(self, request: Request) -> CIMultiDict[str]:
        pairs = forwarded(request.headers, self._upstream)
        if not isinstance(request.body, bytes):  # it goes on as it comes, and some upstreams read by its length
            pairs = (*pairs, *length_of(request.headers))
        return CIMultiDict((name.decode("latin-1"), as_text(value)) for name, value in pairs)

    def _unreachable(self, error: BaseException) -> GatewayError:
        what, todo = next((words, todo) for kind, words, todo in _ERRORS if isinstance(error, kind))
        return UpstreamUnreachable(f"upstream '{self._upstream.name}' ({self._upstream.url}) {what}; {todo}")

    async def aclose(self) -> None:
        """Close all connections."""
        await self._session.close()


async def _note_kept(session: object, context: Any, what: object) -> None:
    if context.trace_request_ctx is not None:  # a WebSocket's handshake is sent again by aiohttp itself
        context.trace_request_ctx.kept = True


def _never_arrived(error: BaseException, attempt: _Attempt, request: Request) -> bool:
    """It met a connection that the upstream had closed meanwhile, and can be sent again over another. One that was
    opened for it is no such; nor is one that ends after a while: the model may have been at work."""
    gone = isinstance(error, aiohttp.ServerDisconnectedError | aiohttp.ClientOSError)
    soon = time.monotonic() - attempt.began < _STALE
    return gone and attempt.kept and soon and isinstance(request.body, bytes)


class _Response:
    """An upstream's answer under way."""

    def __init__(self, response: aiohttp.ClientResponse, name: str) -> None:
        self._response = response
        self._name = name
        self.status = response.status
        self.headers: Headers = passing(response.raw_headers)

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
