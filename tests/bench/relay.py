"""The least that a gateway on this stack can cost: bytes in, the same bytes on, the answer back, nothing looked at."""

from __future__ import annotations

import socket
import sys

import aiohttp
import uvicorn
from starlette.types import Receive, Scope, Send


class Relay:
    """Passes every POST on to one upstream."""

    def __init__(self, upstream: str) -> None:
        self._upstream = upstream
        self._session: aiohttp.ClientSession | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        parts = []
        more = True
        while more:
            message = await receive()
            parts.append(message.get("body", b""))
            more = message.get("more_body", False)
        if self._session is None:
            self._session = aiohttp.ClientSession(auto_decompress=False)
        headers = {"content-type": "application/json"}
        async with self._session.post(self._upstream + scope["path"], data=b"".join(parts), headers=headers) as answer:
            kind = answer.headers["content-type"].encode()
            await send({"type": "http.response.start", "status": answer.status, "headers": [(b"content-type", kind)]})
            async for chunk in answer.content.iter_any():
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b""})


def main() -> None:
    """Serve on the port that is given, before the upstream that is given."""
    config = uvicorn.Config(
        Relay(sys.argv[2]),
        http="httptools",
        loop="uvloop",
        ws="none",
        lifespan="off",
        access_log=False,
        log_level="error",
    )
    with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as listener:
        uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
