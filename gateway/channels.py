"""WebSockets to an upstream, over aiohttp."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import aiohttp

from gateway.headers import passing
from gateway.types import Headers


class Socket(aiohttp.ClientWebSocketResponse):
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


async def refuse_redirect(session: object, context: object, what: aiohttp.TraceRequestRedirectParams) -> None:
    """Refuse to take a handshake, and the key in it, to where an upstream sends it; of its own accord aiohttp would."""
    said = what.response
    said.close()
    raise aiohttp.WSServerHandshakeError(said.request_info, said.history, status=said.status, headers=said.headers)
