"""What comes from a client: head, body, key, and the moment when it leaves."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway import inbound
from gateway.config import Client, Config
from gateway.errors import BadRequest, MissingKey, TooLarge
from gateway.identity import tenant_of
from gateway.inbound import ClientLeft, Inbound, Upload


def head(*headers: tuple[bytes, bytes], path: bytes = b"/v1/x", query: bytes = b"") -> Inbound:
    """The head of a request."""
    scope = {"headers": headers, "raw_path": path, "path": path.decode(), "query_string": query, "method": "POST"}
    return inbound.read_head(scope)


class Receive:
    """What a server hands on, message by message; then nothing until the client leaves."""

    def __init__(self, *messages: dict[str, Any]) -> None:
        self.messages = list(messages)
        self.left = asyncio.Event()

    async def __call__(self) -> dict[str, Any]:
        """The next message."""
        if self.messages:
            return self.messages.pop(0)
        await self.left.wait()
        return {"type": "http.disconnect"}


def body(data: bytes, more: bool = False) -> dict[str, Any]:
    """A piece of a body."""
    return {"type": "http.request", "body": data, "more_body": more}


LEFT = {"type": "http.disconnect"}


@pytest.mark.parametrize(
    ("path", "query", "whole"),
    [(b"/v1/x", b"", "/v1/x"), (b"/v1/a%2Fb", b"", "/v1/a%2Fb"), (b"/v1/x", b"a=%20&b", "/v1/x?a=%20&b")],
    ids=["plain", "escaped", "with a query"],
)
def test_a_path_is_kept_as_it_was_written(path: bytes, query: bytes, whole: str) -> None:
    """Nothing is decoded and encoded anew."""
    assert head(path=path, query=query).path == whole


def test_a_request_has_an_id() -> None:
    """The client's, if it is one; else one of ours."""
    assert head((b"x-taco-request-id", b"mine-1")).id == "mine-1"
    assert len(head((b"x-taco-request-id", b"a b\x00")).id) == 16
    assert head().id != head().id


@pytest.mark.parametrize(
    ("headers", "key"),
    [
        ({}, ""),
        ({"authorization": "Bearer k"}, "k"),
        ({"authorization": "bearer  k "}, "k"),
        ({"authorization": "Basic k"}, "Basic k"),
        ({"authorization": "k"}, "k"),
        ({"x-api-key": "k"}, "k"),
        ({"api-key": "k"}, "k"),
        ({"x-goog-api-key": "k"}, "k"),
        ({"authorization": "Bearer a", "x-api-key": "b"}, "a"),
        ({"authorization": "Bearer ", "x-api-key": "b"}, "b"),
    ],
)
def test_a_key_is_found_wherever_it_is_sent(headers: dict[str, str], key: str) -> None:
    """APIs have their own headers for it."""
    assert inbound.key_of(headers) == key


def test_without_a_list_everybody_is_let_in() -> None:
    """As the holder of a key, or of none."""
    assert inbound.admit(head((b"authorization", b"Bearer k")), Config()) == tenant_of(b"k")
    assert inbound.admit(head(), Config()) == tenant_of(b"")


def test_with_a_list_only_those_on_it_are_let_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client whose variable is not set is nobody, not everybody."""
    config = Config(clients=(Client(name="ann", key_env="ANN"), Client(name="bob", key_env="BOB")))
    monkeypatch.setenv("BOB", "b")
    monkeypatch.delenv("ANN", raising=False)

    assert inbound.admit(head((b"x-api-key", b"b")), config) == "bob"
    for headers in ([], [(b"authorization", b"Bearer ")], [(b"authorization", b"Bearer a")]):
        with pytest.raises(MissingKey, match="clients"):
            inbound.admit(head(*headers), config)


async def test_a_body_is_read_to_its_end() -> None:
    """In however many pieces."""
    assert await inbound.read_body(Receive(body(b"a", True), body(b"", True), body(b"b")), head(), 1) == b"ab"


async def test_a_body_that_never_ends_is_left() -> None:
    """Its client is gone."""
    with pytest.raises(ClientLeft):
        await inbound.read_body(Receive(body(b"a", True), LEFT), head(), 1)


@pytest.mark.parametrize(
    ("headers", "pieces", "read"),
    [
        ([(b"content-length", b"1048577")], [body(b"x" * 10)], 0),
        ([], [body(b"x" * (1 << 20), True), body(b"x", True), body(b"x")], 2),
        ([(b"content-length", b"rubbish")], [body(b"x" * ((1 << 20) + 1))], 1),
    ],
    ids=["announced", "not announced", "announced in rubbish"],
)
async def test_a_body_over_the_limit_is_not_read_on(
    headers: list[tuple[bytes, bytes]], pieces: list[dict[str, Any]], read: int
) -> None:
    """Not even a piece more."""
    receive = Receive(*pieces)
    with pytest.raises(TooLarge, match="max_body_mb"):
        await inbound.read_body(receive, head(*headers), 1)
    assert len(pieces) - len(receive.messages) == read


def test_an_encoded_body_is_decoded() -> None:
    """Within the limit, and not above it."""
    got = head((b"content-encoding", b"gzip"))

    assert inbound.decoded(b"{}", head(), 1) == b"{}"
    assert inbound.decoded(gzip.compress(b"{}"), got, 1) == b"{}"
    with pytest.raises(BadRequest, match="gzip"):
        inbound.decoded(b"{}", got, 1)
    with pytest.raises(TooLarge):
        inbound.decoded(gzip.compress(b" " * (2 << 20)), got, 1)
    with pytest.raises(BadRequest, match="empty"):
        inbound.decoded(b"", got, 1)


@pytest.mark.parametrize(
    ("kind", "is_json"),
    [
        (b"application/json", True),
        (b"Application/JSON; charset=utf-8", True),
        (b"application/jsonl", False),
        (b"", False),
    ],
)
def test_json_is_told_by_its_announcement(kind: bytes, is_json: bool) -> None:
    """Parameters and case do not matter."""
    assert inbound.is_json(head((b"content-type", kind))) is is_json


async def test_work_is_done_while_the_client_stays() -> None:
    """And nothing is left behind."""
    done = []

    async def work() -> None:
        await asyncio.sleep(0)
        done.append(1)

    await inbound.unless_left(Receive(), work())
    assert done == [1]


async def test_work_is_stopped_when_the_client_leaves() -> None:
    """Its cleaning up is waited for."""
    receive, cleaned = Receive(), []

    async def work() -> None:
        try:
            receive.left.set()
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            cleaned.append(1)

    with pytest.raises(ClientLeft):
        await inbound.unless_left(receive, work())
    assert cleaned == [1]


async def test_what_work_raises_is_raised() -> None:
    """As it is."""

    async def work() -> None:
        raise BadRequest("no")

    with pytest.raises(BadRequest, match="no"):
        await inbound.unless_left(Receive(), work())


async def collect(chunks: AsyncIterator[bytes]) -> bytes:
    """All of a body."""
    return b"".join([chunk async for chunk in chunks])


async def test_an_upload_is_handed_on_piece_by_piece() -> None:
    """Then the client's leaving may be listened for."""
    upload = Upload(Receive(body(b"a", True), body(b"", True), body(b"b")))

    assert await collect(upload.chunks()) == b"ab"
    assert upload.ended.is_set()
    assert not upload.left


async def test_a_client_may_leave_its_upload() -> None:
    """That is no error of the upstream's, whatever it makes of it."""
    receive = Receive(body(b"a", True), LEFT)
    upload = Upload(receive)

    async def work() -> None:
        try:
            await collect(upload.chunks())
        except ClientLeft as error:
            raise BadRequest("half a body") from error

    with pytest.raises(ClientLeft):
        await inbound.unless_left(receive, work(), upload)
    assert upload.left
