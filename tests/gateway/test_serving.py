"""Serving: an application on a socket for as long as it is needed."""

from __future__ import annotations

import socket

import aiohttp
import pytest
from starlette.types import Receive, Scope, Send

from gateway.serving import address, serving


async def fail_to_start(scope: Scope, receive: Receive, send: Send) -> None:
    """An application whose start-up fails."""
    await receive()
    await send({"type": "lifespan.startup.failed", "message": "no"})


async def greet(scope: Scope, receive: Receive, send: Send) -> None:
    """An application without a lifespan."""
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"hi"})


async def raise_at_start(scope: Scope, receive: Receive, send: Send) -> None:
    """An application whose start-up raises, as frameworks let it."""
    await fail_to_start(scope, receive, send)
    raise LookupError("no rules")


async def test_failed_start_is_an_error() -> None:
    """An application that does not start is not served."""
    with pytest.raises(RuntimeError, match="did not start"):
        async with serving(fail_to_start):
            pass


async def test_the_reason_of_a_failed_start_is_told() -> None:
    """What the application raised is the cause of the error."""
    with pytest.raises(RuntimeError, match="did not start") as caught:
        async with serving(raise_at_start):
            pass
    assert isinstance(caught.value.__cause__, LookupError)


async def test_a_taken_port_is_an_error() -> None:
    """The server of somebody else is not mistaken for this one."""
    async with serving(greet) as url:
        with pytest.raises(OSError, match="in use"):
            async with serving(greet, port=int(url.rpartition(":")[2])):
                pass


@pytest.mark.parametrize(
    ("host", "url"),
    [
        pytest.param("127.0.0.1", "http://127.0.0.1:1", id="an address"),
        pytest.param("box.local", "http://box.local:1", id="a name"),
        pytest.param("0.0.0.0", "http://127.0.0.1:1", id="every address"),
        pytest.param("::", "http://[::1]:1", id="every address of the newer kind"),
        pytest.param("fe80::1", "http://[fe80::1]:1", id="an address of the newer kind"),
    ],
)
def test_address(host: str, url: str) -> None:
    """The URL can be used from this machine, whatever is listened on."""
    assert address(host, 1) == url


async def test_serves_until_left() -> None:
    """The address answers inside the block, and no longer after it."""
    async with aiohttp.ClientSession() as client:
        async with serving(greet) as url, client.get(url) as response:
            assert await response.text() == "hi"
        with pytest.raises(aiohttp.ClientConnectorError):
            await client.get(url)


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="this system has one kind of address only")
async def test_every_address_is_of_both_kinds() -> None:
    """Who listens on `::` is reached by the older kind, too."""
    async with aiohttp.ClientSession() as client, serving(greet, "::") as url:
        for at in (url, url.replace("[::1]", "127.0.0.1")):
            async with client.get(at) as response:
                assert await response.text() == "hi"


async def test_errors_pass_through() -> None:
    """What is raised inside the block leaves it as it is."""
    with pytest.raises(ZeroDivisionError):
        async with serving(greet):
            raise ZeroDivisionError
