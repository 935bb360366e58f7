"""Offers of clients to go on in another protocol."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from gateway.serving import serving
from tests.wire import PATIENCE, chunk, connected

pytestmark = pytest.mark.asyncio(loop_scope="module")

OFFER = [("connection", "Upgrade, HTTP2-Settings"), ("upgrade", "h2c"), ("http2-settings", "AAMAAABkAAQCAAAA")]
HEAD = b"POST /a%20b?c=d HTTP/1.1\r\nhost: x\r\n" + b"".join(f"{name}: {value}\r\n".encode() for name, value in OFFER)


async def tell(request: Request) -> JSONResponse:
    """What arrived."""
    body = (await request.body()).decode()
    return JSONResponse([request.method, str(request.url.query), [*request.headers], body])


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def url() -> AsyncIterator[str]:
    """Where it is told."""
    async with serving(Starlette(routes=[Route("/a b", tell, methods=["GET", "POST"])])) as served:
        yield served


@pytest.mark.parametrize("size", [1, 7, 1 << 16], ids=["byte by byte", "in pieces", "at once"])
@pytest.mark.parametrize(
    "rest",
    [
        b"content-length: 5\r\n\r\nhello",
        b"transfer-encoding: chunked\r\n\r\n" + chunk(b"hel") + chunk(b"lo") + b"0\r\n\r\n",
    ],
    ids=["of known length", "in chunks"],
)
async def test_a_request_that_offers_another_protocol_is_answered_in_this_one(rest: bytes, size: int, url: str) -> None:
    """With its body and without the offer, however it arrives; the connection goes on, and may offer again."""
    async with connected(url) as client:
        for _ in range(2):
            sent = HEAD + rest
            for at in range(0, len(sent), size):
                await client.write(sent[at : at + size])
                await asyncio.sleep(0)
            answer = await client.answer()
            name = rest.split(b":")[0].decode()
            assert (answer.status, answer.body) == (200, b'["POST","c=d",["host","%b"],"hello"]' % name.encode())


async def test_a_request_without_a_body_may_offer_too(url: str) -> None:
    """And what follows on the connection is the next request."""
    async with connected(url) as client:
        await client.write(HEAD.replace(b"POST", b"GET") + b"\r\nGET /a%20b HTTP/1.1\r\nhost: y\r\n\r\n")
        assert (await client.answer()).body == b'["GET","c=d",["host"],""]'
        assert (await client.answer()).body == b'["GET","",["host"],""]'


async def test_who_wants_a_tunnel_is_told_no(url: str) -> None:
    """It is no proxy that is asked."""
    async with connected(url) as client, asyncio.timeout(PATIENCE):
        await client.write(b"CONNECT api.test:443 HTTP/1.1\r\nhost: api.test\r\n\r\n")
        assert (await client.answer()).status == 400
