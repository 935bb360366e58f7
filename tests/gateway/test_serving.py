"""Serving: an application on a socket for as long as it is needed."""

from __future__ import annotations

import aiohttp
import pytest
from starlette.types import Receive, Scope, Send

from gateway.serving import serving


async def fail_to_start(scope: Scope, receive: Receive, send: Send) -> None:
    """An application whose start-up fails."""
    await receive()
    await send({"type": "lifespan.startup.failed", "message": "no"})


async def greet(scope: Scope, receive: Receive, send: Send) -> None:
    """An application without a lifespan."""
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"hi"})


async def test_failed_start_is_an_error() -> None:
    """An application that does not start is not served."""
    with pytest.raises(RuntimeError, match="did not start"):
        async with serving(fail_to_start):
            pass


async def test_serves_until_left() -> None:
    """The address answers inside the block, and no longer after it."""
    async with aiohttp.ClientSession() as client:
        async with serving(greet) as url, client.get(url) as response:
            assert await response.text() == "hi"
        with pytest.raises(aiohttp.ClientConnectorError):
            await client.get(url)


async def test_errors_pass_through() -> None:
    """What is raised inside the block leaves it as it is."""
    with pytest.raises(ZeroDivisionError):
        async with serving(greet):
            raise ZeroDivisionError
