"""HTTP and WebSockets where the server would do less than is needed: offers of another protocol, and an end without haste."""

from __future__ import annotations

import sys
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

LEAVE = "websocket.leave"
"""Type of the message by which an application hears that the server stops; it closes the WebSocket when it is done."""
_OFFER = frozenset({b"connection", b"upgrade", b"http2-settings"})


class Protocol(HttpToolsProtocol):
    """A connection of a client. An upgrade that is not served is declined by answering the request as it is: some
    clients offer HTTP/2 with each, and the parser takes the body behind such an offer for the other protocol."""

    _head = b""
    """Without the offer, where one has just been declined."""
    _fed = b""

    def on_headers_complete(self) -> None:
        """Begin to serve a request, unless its head has to be read again."""
        offers = self.parser.should_upgrade() and self.parser.get_method() != b"CONNECT"
        if offers and not self._should_upgrade():
            self._head = self._without_offer()
        else:
            super().on_headers_complete()

    def on_message_complete(self) -> None:
        """End a request."""
        if not self._head:
            super().on_message_complete()

    def data_received(self, data: bytes) -> None:
        """Read on."""
        self._fed = data
        try:
            super().data_received(data)
        finally:
            self._fed = b""

    def _unsupported_upgrade_warning(self) -> None:
        """Read the request that made an offer again, with a parser that has not heard of it."""
        stopped = sys.exc_info()[1]
        if self._head and isinstance(stopped, httptools.HttpParserUpgrade):
            again, self._head = self._head + self._fed[stopped.args[0] :], b""
            self.parser = httptools.HttpRequestParser(self)
            self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
            self.data_received(again)

    def _without_offer(self) -> bytes:
        first = b"%b %b HTTP/%b" % (self.parser.get_method(), self.url, self.parser.get_http_version().encode())
        kept = (b"%b: %b" % pair for pair in self.headers if pair[0] not in _OFFER)
        return b"\r\n".join([first, *kept, b"", b""])


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """A WebSocket of a client."""

    def shutdown(self) -> None:
        """Stop: what is under way has as long as any request."""
        if self.handshake_complete and not self.close_sent:
            leave: Any = {"type": LEAVE}  # no event that ASGI knows
            self.queue.put_nowait(leave)
        else:
            super().shutdown()
