"""Connections to an upstream: kept ones that it has closed, large heads, proxies, private authorities."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from gateway.network import AUTHORITIES
from tests.samples import Sample, dump
from tests.service import ID, Wire, configured, service
from tests.tls import AUTHORITY, serving_tls
from tests.wire import CHUNKED, JSON, Call, Reply, ask, chunk, connected, frame, streamed, upstream, whole

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(autouse=True)
def _no_exceptions(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("no_proxy", "NO_PROXY", *AUTHORITIES):
        monkeypatch.delenv(name, raising=False)


WAYS = {"closed": lambda call: call.writer.close(), "reset": Call.reset}


def ending(reply: Reply, way: str) -> Reply:
    """An upstream that ends a connection at the second request on it, as one does that had closed it just before."""
    seen: set[object] = set()

    async def told(call: Call) -> None:
        if call.writer in seen:
            WAYS[way](call)
        else:
            seen.add(call.writer)
            await reply(call)

    return told


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_a_kept_connection_that_the_upstream_had_closed_costs_no_request(
    stream: bool, way: str, path: str, sample: Sample, line: Wire
) -> None:
    """It goes over another one, and the client sees nothing of it."""
    reply = ending(streamed(sample.events("ok")) if stream else whole(sample.answer("ok")), way)
    body = dump(sample.request(stream=stream))
    line.up.reply = reply
    first = await ask(line.gateway.url, path, body)
    count = len(line.up.calls)
    second = await ask(line.gateway.url, path, body)

    assert (second.status, second.body, second.clean) == (first.status, first.body, True)
    assert [call.body for call in line.up.calls[count:]] == [body, body]
    assert (await line.gateway.row(second)).outcome == "completed"


@pytest.mark.parametrize("way", WAYS)
async def test_a_new_connection_that_ends_is_no_reason_to_ask_again(
    way: str, path: str, sample: Sample, tmp_path: Path
) -> None:
    """The upstream may have begun with it, and asking twice costs twice."""

    async def reply(call: Call) -> None:
        WAYS[way](call)

    async with upstream(reply) as up, service(configured(up.url), tmp_path) as gateway:
        answer = await ask(gateway.url, path, dump(sample.request()))

    assert (answer.status, len(up.calls)) == (502, 1)
    assert "without an answer" in sample.error(answer.body)


async def test_a_kept_connection_that_ends_late_is_no_reason_to_ask_again(
    path: str, sample: Sample, line: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By then the model may have been at work."""
    monkeypatch.setattr("gateway.providers.passthrough._STALE", 0.0)
    line.up.reply = ending(whole(sample.answer("ok")), "closed")
    await ask(line.gateway.url, path, dump(sample.request()))
    count = len(line.up.calls)

    assert (await ask(line.gateway.url, path, dump(sample.request()))).status == 502
    assert len(line.up.calls) == count + 1


async def test_an_upload_is_not_sent_a_second_time(line: Wire) -> None:
    """Nobody has kept what was passed on as it came."""
    line.up.reply = ending(whole(b"{}"), "closed")
    headers = [("content-type", "application/octet-stream")]
    await ask(line.gateway.url, "/v1/files", b"one", headers=headers)

    assert (await ask(line.gateway.url, "/v1/files", b"two", headers=headers)).status == 502


@pytest.mark.parametrize(
    "more",
    [[("content-security-policy", "a" * 100_000)], [(f"x-{k}", "v") for k in range(500)]],
    ids=["a long header", "many headers"],
)
async def test_a_large_head_of_an_answer_is_relayed(
    more: list[tuple[str, str]], path: str, sample: Sample, line: Wire
) -> None:
    """What stands before an API may add as much as it likes."""
    answer = await line.ask(whole(sample.answer("ok"), headers=[JSON, *more]), path, dump(sample.request()))

    assert answer.status == 200
    assert [pair for pair in answer.headers if pair[0] not in (JSON[0], "content-length", ID)] == more


async def test_what_an_upstream_says_beforehand_is_no_answer(path: str, sample: Sample, line: Wire) -> None:
    """Hints, and leave to go on, are for whoever asked for them."""

    async def reply(call: Call) -> None:
        said = b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
        await call.write(said + frame(200, [JSON], sample.answer("ok")))

    answer = await line.ask(reply, path, dump(sample.request()))
    assert (answer.status, answer.body) == (200, sample.answer("ok"))


@asynccontextmanager
async def hasty(body: bytes) -> AsyncIterator[str]:
    """An upstream that reads the head alone, refuses, and closes."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(frame(413, [JSON, ("connection", "close")], body))
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@pytest.mark.parametrize("size", [1000, 2_000_000], ids=["small", "large"])
async def test_an_answer_that_comes_before_the_request_is_read_reaches_the_client(
    size: int, path: str, sample: Sample, tmp_path: Path
) -> None:
    """That the rest cannot be sent is not what the client has to know; so with an upload, even one that never ends."""
    told = b'{"error": {"message": "too large"}}'
    body = dump(sample.request() | {"extra": "one " * (size // 4)})
    upload = [("content-type", "application/octet-stream")]
    async with hasty(told) as url, service(configured(url), tmp_path) as gateway:
        answers = [await ask(gateway.url, path, body), await ask(gateway.url, "/v1/files", body, headers=upload)]
        async with connected(gateway.url) as client:
            await client.send("POST", "/v1/files", [*upload, CHUNKED])
            await client.write(chunk(body))
            answers.append(await client.answer())

    assert [(answer.status, answer.body) for answer in answers] == [(413, told)] * 3


async def test_a_connection_goes_on_after_an_error(path: str, sample: Sample, line: Wire) -> None:
    """One request after the other, or all at once; the answers come in their order."""
    line.up.reply = whole(sample.answer("ok"))
    bodies = [b"{", dump(sample.request()), b"[]", dump(sample.request())]
    async with connected(line.gateway.url) as client:
        for body in bodies:
            await client.send("POST", path, [JSON], body)
        assert [(await client.answer()).status for _ in bodies] == [400, 200, 400, 200]
        await client.send("POST", path, [JSON], bodies[1])
        assert (await client.answer()).status == 200


async def test_a_client_that_waits_for_leave_gets_it(path: str, sample: Sample, line: Wire) -> None:
    """Before it has sent its body; the upstream is not asked to wait for anything."""
    line.up.reply = whole(sample.answer("ok"))
    body = dump(sample.request())
    async with connected(line.gateway.url) as client:
        await client.send("POST", path, [JSON, ("expect", "100-continue"), ("content-length", str(len(body)))])
        assert (await client.stream.head())[0].split(" ")[1] == "100"
        await client.write(body)
        assert (await client.answer()).status == 200

    assert line.up.last.header("expect") == []


async def test_an_upstream_of_a_private_authority_is_trusted_by_the_variables_of_agents(
    path: str, sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them; without one the error says which to set."""
    file = tmp_path / "authority.pem"
    file.write_text(AUTHORITY, encoding="ascii")
    body = dump(sample.request())
    async with upstream(whole(sample.answer("ok")), serving_tls(tmp_path)) as up:
        async with service(configured(up.url), tmp_path / "none") as gateway:
            refused = await ask(gateway.url, path, body)
        for name in AUTHORITIES:
            with monkeypatch.context() as patch:
                patch.setenv(name, str(file))
                async with service(configured(up.url), tmp_path / name) as gateway:
                    assert (await ask(gateway.url, path, body)).status == 200

    assert (refused.status, len(up.calls)) == (502, 4)
    assert "SSL_CERT_FILE" in sample.error(refused.body)


@asynccontextmanager
async def proxy(to: str, said: bytes = b"HTTP/1.1 200 Connected\r\n\r\n") -> AsyncIterator[tuple[str, list[bytes]]]:
    """A proxy that answers what it is asked first, and then passes bytes on to one place: its URL, and what it was asked."""
    asked: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(said)
        at = urlsplit(to)
        theirs, ours = await asyncio.open_connection(at.hostname, at.port)
        with suppress(ConnectionError):
            await asyncio.gather(_pump(reader, ours), _pump(theirs, writer))

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}", asked


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(1 << 16):
        writer.write(data)
        await writer.drain()
    writer.close()


async def test_an_encrypted_upstream_is_reached_by_way_of_the_proxy(
    path: str, sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the proxy's own password, which nobody else gets; what is said goes through it unread."""
    file = tmp_path / "authority.pem"
    file.write_text(AUTHORITY, encoding="ascii")
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    async with upstream(whole(sample.answer("ok")), serving_tls(tmp_path)) as up, proxy(up.url) as (address, asked):
        monkeypatch.setenv("https_proxy", f"http://user:word@{address}")
        async with service(configured("https://upstream.test"), tmp_path / "data") as gateway:
            answer = await ask(gateway.url, path, dump(sample.request()))

    assert (answer.status, answer.body) == (200, sample.answer("ok"))
    assert asked[0].startswith(b"CONNECT upstream.test:443 ")
    assert b"proxy-authorization: basic dxnlcjp3b3jk" in asked[0].lower()
    assert up.last.header("proxy-authorization") == []
    assert up.last.body == dump(sample.request())


async def test_a_plain_upstream_is_asked_of_the_proxy(
    path: str, sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its whole URL, unless it is exempt."""
    async with upstream(whole(sample.answer("ok"))) as up:
        monkeypatch.setenv("http_proxy", up.url)
        async with service(configured("http://upstream.test"), tmp_path / "by") as gateway:
            assert (await ask(gateway.url, path, dump(sample.request()))).status == 200
        monkeypatch.setenv("no_proxy", "upstream.test")
        async with service(configured("http://upstream.test"), tmp_path / "past") as gateway:
            assert (await ask(gateway.url, path, dump(sample.request()))).status == 502

    assert [call.target for call in up.calls] == [f"http://upstream.test{path}"]


@pytest.mark.parametrize("said", [b"HTTP/1.1 407 Who are you\r\n\r\n", None], ids=["refuses", "is down"])
async def test_a_proxy_that_does_not_help_is_named(
    said: bytes | None, path: str, sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the upstream nor the client is to blame; no password of it is told."""
    async with upstream(whole(b"{}")) as up, proxy(up.url, said or b"") as (address, _):
        monkeypatch.setenv("https_proxy", f"http://user:word@{address if said else '127.0.0.1:1'}")
        async with service(configured("https://upstream.test"), tmp_path) as gateway:
            answer = await ask(gateway.url, path, dump(sample.request()))

    assert answer.status == 502
    assert "HTTPS_PROXY" in sample.error(answer.body)
    assert b"word" not in answer.body
