"""The way to an upstream that speaks the client's format."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from gateway.config import Upstream
from gateway.errors import MissingKey, UpstreamBroke, UpstreamUnreachable
from gateway.providers.passthrough import Passthrough
from gateway.types import Answer, Headers, Request
from tests.wire import CHUNKED, EVENTS, JSON, Call, Reply, chunk, frame, streamed, upstream, whole

ASK = Request(id="r", method="POST", path="/v1/x", headers=(), body=b"{}", model=None, stream=False)


async def exchange(
    reply: Reply, request: Request = ASK, base: str = "/v1", **more: Any
) -> tuple[int, Headers, bytes, Call]:
    """Status, headers and body of the answer, and the request as it arrived."""
    async with upstream(reply) as up:
        provider = await Passthrough.open(Upstream(name="up", url=up.url + base, **more), 5, 5)
        try:
            answer = await provider.send(request)
            body = await collect(answer, bytearray())
        finally:
            await provider.aclose()
        return answer.status, answer.headers, body, up.last


async def collect(answer: Answer, got: bytearray) -> bytes:
    """The whole body; what there is of it stands in `got`."""
    try:
        async for piece in answer.chunks():
            got += piece
    finally:
        await answer.aclose()
    return bytes(got)


@pytest.mark.parametrize(
    ("base", "path", "target"),
    [
        ("/v1", "/v1/chat/completions", "/v1/chat/completions"),
        ("/openai/v1", "/v1/models?a=%2F&b", "/openai/v1/models?a=%2F&b"),
        ("", "/v1/models", "/models"),
        ("/api/v3", "/v1/files/a%20b%2Fc", "/api/v3/files/a%20b%2Fc"),
        ("/v1", "/v1/v1/x", "/v1/v1/x"),
        ("/v1/", "/v1/models", "/v1/models"),
    ],
)
async def test_a_path_stands_under_the_base_url(base: str, path: str, target: str) -> None:
    """In the place of the client's /v1, and as it was written."""
    *_, call = await exchange(whole(b"{}"), replace(ASK, path=path), base)
    assert call.target == target


async def test_nothing_is_added_to_a_request() -> None:
    """No agent, no type, no encoding that the client did not name."""
    *_, call = await exchange(whole(b"{}"))
    assert {name.lower() for name, _ in call.headers} == {"host", "content-length"}


async def test_no_body_is_sent_where_there_is_none() -> None:
    """Not even an empty one."""
    *_, call = await exchange(whole(b"{}"), replace(ASK, method="GET", body=b""))
    assert (call.body, call.header("content-length"), call.header("transfer-encoding")) == (b"", [], [])


@pytest.mark.parametrize("size", [1, 1 << 20, (1 << 20) + 1, 3 << 20])
async def test_a_body_of_any_size_has_its_length(size: int) -> None:
    """And arrives whole."""
    *_, call = await exchange(whole(b"{}"), replace(ASK, body=b"x" * size))
    assert (len(call.body), call.header("content-length")) == (size, [str(size)])


async def test_a_body_that_comes_in_pieces_goes_out_in_pieces() -> None:
    """Its length is not known."""

    async def pieces() -> AsyncIterator[bytes]:
        yield b"one"
        yield b"two"

    *_, call = await exchange(whole(b"{}"), replace(ASK, body=pieces()))
    assert (call.body, call.header("transfer-encoding")) == (b"onetwo", ["chunked"])


BEARER = (b"authorization", b"Bearer mine")
KEYS: dict[str, tuple[Headers, dict[str, Any], list[str]]] = {
    "the client's is passed on": ((BEARER,), {}, ["Bearer mine"]),
    "the client's wins over ours": ((BEARER,), {"key_env": "OURS"}, ["Bearer mine"]),
    "ours where the client has none": ((), {"key_env": "OURS"}, ["Bearer ours"]),
    "ours in the place of the client's": ((BEARER,), {"key_env": "OURS", "client_key": False}, ["Bearer ours"]),
    "none where there is none": ((), {}, []),
    "none where ours is not set": ((), {"key_env": "UNSET"}, []),
}


@pytest.mark.parametrize(("headers", "upstream_", "sent"), KEYS.values(), ids=KEYS)
async def test_whose_key_is_sent(
    headers: Headers, upstream_: dict[str, Any], sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One at most."""
    monkeypatch.setenv("OURS", "ours")
    *_, call = await exchange(whole(b"{}"), replace(ASK, headers=headers), **upstream_)
    assert call.header("authorization") == sent


@pytest.mark.parametrize("name", ["x-api-key", "api-key", "x-goog-api-key"])
async def test_a_key_that_is_not_for_the_upstream_is_not_sent(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In whichever header it came."""
    monkeypatch.setenv("OURS", "ours")
    request = replace(ASK, headers=((name.encode(), b"mine"),))
    *_, call = await exchange(whole(b"{}"), request, key_env="OURS", client_key=False)
    assert (call.header(name), call.header("authorization")) == ([], ["Bearer ours"])


async def test_our_key_goes_in_the_header_of_the_api(monkeypatch: pytest.MonkeyPatch) -> None:
    """Anthropic's has one of its own; a client's key, of whichever kind, is left as it is."""
    monkeypatch.setenv("OURS", "ours")
    *_, ours = await exchange(whole(b"{}"), key_env="OURS", api="anthropic")
    *_, own = await exchange(whole(b"{}"), replace(ASK, headers=(BEARER,)), key_env="OURS", api="anthropic")
    assert (ours.header("x-api-key"), ours.header("authorization")) == (["ours"], [])
    assert (own.header("x-api-key"), own.header("authorization")) == ([], ["Bearer mine"])


async def test_a_key_that_is_needed_and_not_set_is_asked_for() -> None:
    """With the name of its variable."""
    with pytest.raises(MissingKey, match="UNSET"):
        await exchange(whole(b"{}"), key_env="UNSET", client_key=False)


async def test_a_stream_that_breaks_raises() -> None:
    """After what there is of it."""
    got = bytearray()
    async with upstream(streamed([b"one", b"two"], broken=True)) as up:
        provider = await Passthrough.open(Upstream(name="up", url=up.url), 5, 5)
        answer = await provider.send(ASK)
        with pytest.raises(UpstreamBroke, match="'up' broke off"):
            await collect(answer, got)
        await provider.aclose()

    assert got == b"onetwo"


async def test_an_answer_that_is_let_go_closes_its_connection() -> None:
    """One that was read to its end gives it back for the next request."""

    async def endless(call: Call) -> None:
        await call.write(frame(200, [EVENTS, CHUNKED], None) + chunk(b"one"))
        await call.gone.wait()

    async with upstream(whole(b"{}", headers=[JSON])) as up:
        provider = await Passthrough.open(Upstream(name="up", url=up.url), 5, 5)
        for _ in range(2):
            answer = await provider.send(ASK)
            assert await collect(answer, bytearray()) == b"{}"
        assert up.calls[0].writer is up.calls[1].writer
        up.reply = endless
        answer = await provider.send(ASK)
        await answer.aclose()
        await asyncio.wait_for(up.last.gone.wait(), 1)
        await provider.aclose()


@pytest.mark.parametrize(
    ("url", "words"),
    [("http://127.0.0.1:1/v1", "cannot be reached"), ("http://no-such-host.invalid/v1", "cannot be reached")],
    ids=["nobody listens", "no such host"],
)
async def test_an_upstream_that_cannot_be_reached_is_named(
    url: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its address and what to check."""
    monkeypatch.setenv("no_proxy", "*")
    provider = await Passthrough.open(Upstream(name="up", url=url), 5, 5)
    with pytest.raises(UpstreamUnreachable, match=words) as caught:
        await provider.send(ASK)
    await provider.aclose()

    assert url in caught.value.message
    assert "check" in caught.value.message
