"""The way to an upstream that speaks the client's own format: the same bytes, over aiohttp."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from io import BytesIO
from typing import Any

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from gateway.config import Upstream, secret
from gateway.errors import GatewayError, MissingKey, UpgradeRefused, UpstreamBroke, UpstreamUnreachable
from gateway.headers import as_text, passing
from gateway.types import Answer, Channel, Headers, Request

_OURS = (b"host", b"content-length", b"expect")
_AUTOMATIC = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")
_TOLD = (b"retry-after", b"x-request-id", b"x-ratelimit-", b"openai-", b"www-authenticate")
"""Headers of a refusal that the client gets."""
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
            ws_response_class=_Socket,
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

    async def connect(self, request: Request, protocols: Sequence[str]) -> Channel:
        """Open a WebSocket at the same path under the upstream's URL. Raises `UpgradeRefused`."""
        url = URL(self._upstream.url + request.path.removeprefix("/v1"), encoded=True)
        try:
            socket = await self._session.ws_connect(
                url, headers=self._headers(request), protocols=protocols, max_msg_size=0
            )
        except aiohttp.WSServerHandshakeError as error:
            headers = tuple(
                (k.lower().encode(), v.encode("utf-8", "replace")) for k, v in (error.headers or {}).items()
            )
            told = tuple(pair for pair in headers if pair[0].startswith(_TOLD))
            raise UpgradeRefused(f"upstream '{self._upstream.name}' refused a WebSocket", error.status, told) from error
        except (aiohttp.ClientError, TimeoutError) as error:
            raise self._unreachable(error) from error
        assert isinstance(socket, _Socket)
        return socket

    def _headers(self, request: Request) -> CIMultiDict[str]:
        out: CIMultiDict[str] = CIMultiDict()
        keys = [name for name, _ in request.headers if name in _KEYS]
        for name, value in passing(request.headers):
            if name in _OURS or name.startswith(b"x-taco-"):
                continue
            if name in _KEYS and not self._upstream.client_key:
                continue
            out.add(name.decode("latin-1"), as_text(value))
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


class _Socket(aiohttp.ClientWebSocketResponse):
    """A WebSocket under way."""

    def __init__(
        self, reader: Any, writer: Any, protocol: str | None, response: aiohttp.ClientResponse, *more: Any, **named: Any
    ) -> None:
        super().__init__(reader, writer, protocol, response, *more, **named)
        self.headers: Headers = passing(response.raw_headers)
        self.reason = ""

    @property
    def code(self) -> int:
        """With which it was closed."""
        return self.close_code or 1006

    async def send(self, message: str | bytes) -> None:
        """Pass a message on."""
        await (self.send_str(message) if isinstance(message, str) else self.send_bytes(message))

    async def messages(self) -> AsyncIterator[str | bytes]:
        """What comes, until it is closed."""
        while True:
            message = await self.receive()
            if message.type not in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY):
                self.reason = str(message.extra or "") if message.type is aiohttp.WSMsgType.CLOSE else ""
                return
            yield message.data

    async def aclose(self, code: int = 1000) -> None:
        """Close it, if it is not closed yet."""
        await self.close(code=code)


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
