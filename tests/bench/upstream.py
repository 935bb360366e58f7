"""The upstream of the benchmark, as plain ASGI: one JSON answer, or 100 chunks a millisecond apart."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from typing import Any

import uvicorn
from starlette.types import Receive, Scope, Send

CHUNKS, PAUSE = 100, 0.001
_HEAD = {"id": "chatcmpl-bench", "created": 1767225600, "model": "bench"}
_USAGE = {"prompt_tokens": 100, "completion_tokens": CHUNKS, "total_tokens": 100 + CHUNKS}
_MESSAGE = {"role": "assistant", "content": "The function gives back what it loaded, at once."}
_WHOLE = json.dumps(
    {
        **_HEAD,
        "object": "chat.completion",
        "choices": [{"index": 0, "message": _MESSAGE, "finish_reason": "stop"}],
        "usage": _USAGE,
    }
).encode()


def _event(**fields: Any) -> bytes:
    return b"data: " + json.dumps({**_HEAD, "object": "chat.completion.chunk", **fields}).encode() + b"\n\n"


def _delta(reason: str | None = None, **delta: str) -> bytes:
    return _event(choices=[{"index": 0, "delta": delta, "finish_reason": reason}])


_PARTS = (
    _delta(role="assistant", content=""),
    *(_delta(content=f" word{k}") for k in range(CHUNKS - 3)),
    _delta("stop"),
    _event(choices=[], usage=_USAGE) + b"data: [DONE]\n\n",
)


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer any POST."""
    stream = False
    more = True
    while more:
        message = await receive()
        stream = stream or b'"stream":true' in message.get("body", b"").replace(b": ", b":")[-2000:]
        more = message.get("more_body", False)
    kind = b"text/event-stream" if stream else b"application/json"
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", kind)]})
    if not stream:
        await send({"type": "http.response.body", "body": _WHOLE})
        return
    for part in _PARTS:
        await send({"type": "http.response.body", "body": part, "more_body": True})
        await asyncio.sleep(PAUSE)
    await send({"type": "http.response.body", "body": b""})


def main() -> None:
    """Serve on the port that is given."""
    config = uvicorn.Config(
        app, http="httptools", loop="uvloop", ws="none", lifespan="off", access_log=False, log_level="error"
    )
    with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as listener:
        uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
