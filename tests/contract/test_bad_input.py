"""What cannot be served gets the shape's own error with what to do next, is on record, and does no harm."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio

from gateway.config import Client, Rewriting, Server, Upstream
from gateway.identity import tenant_of
from tests.samples import PROGRESS, Sample, Step, dump
from tests.service import ID, Wire, configured, service
from tests.wire import JSON, Call, Headers, connected, upstream, whole

pytestmark = pytest.mark.asyncio(loop_scope="module")

Damage = Callable[[dict[str, Any], str], Any]
"""(request, the field that lists its messages) → what is sent instead."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def strict(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Wire]:
    """A gateway that serves two families of models, one of them from an upstream that is down, and bodies up to 1 MB."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        async with upstream(whole(b"{}")) as up:
            ups = (
                Upstream(name="up", url=f"{up.url}/v1", models=("m-*",)),
                Upstream(name="down", url=nobody, models=("d-*",)),
                Upstream(name="keyed", url=f"{up.url}/v1", models=("k-*",), client_key=False, key_env="NO_SUCH_KEY"),
            )
            config = replace(configured(up.url), upstreams=ups, server=Server(max_body_mb=1, read_seconds=0.3))
            async with service(config, tmp_path_factory.mktemp("data")) as gateway:
                yield Wire(up, gateway)


def changed(name: str, value: object) -> Damage:
    """A request with another value in a field."""
    return lambda request, _: request | {name: value}


def without(name: str) -> Damage:
    """A request that lacks a field."""
    return lambda request, _: {key: value for key, value in request.items() if key != name}


def listing(value: object) -> Damage:
    """A request with something else in the place of its messages."""
    return lambda request, key: request | {key: value}


NO_OBJECT: dict[str, bytes] = {
    "nothing": b"",
    "blanks": b"  \n",
    "no JSON": b"hello",
    "half of it": b'{"model": "m-1", "messages": [',
    "more behind it": b'{"model": "m-1"} {}',
    "a list": b"[]",
    "a string": b'"x"',
    "null": b"null",
    "a form": b"model=m-1&messages=",
    "bytes that are no text": b"\xff\xfe\x00",
    "a comma too many": b'{"model": "m-1",}',
    "brackets without end": b'{"messages": ' + b"[" * 100_000,
}
WRONG: dict[str, Damage] = {
    "no model": without("model"),
    "model null": changed("model", None),
    "model a number": changed("model", 4),
    "model empty": changed("model", ""),
    "no messages": lambda request, key: without(key)(request, key),
    "messages null": listing(None),
    "messages a number": listing(4),
    "messages an object": listing({"role": "user"}),
    "messages empty": listing([]),
    "a message a string": listing(["hi"]),
    "a message null": listing([None]),
}
NO_ROLE = [{"content": "x"}, {"role": 1, "content": "x"}, {"role": None}, {}]


@pytest.mark.parametrize("body", NO_OBJECT.values(), ids=NO_OBJECT)
async def test_what_is_no_object_is_refused(body: bytes, path: str, sample: Sample, strict: Wire) -> None:
    """With 400 and the reason; no upstream is asked."""
    number = len(strict.up.calls)
    answer = await strict.ask(whole(b"{}"), path, body)
    row = await strict.gateway.row(answer)

    assert answer.status == 400
    assert answer.header("content-type") == "application/json"
    assert sample.error(answer.body)
    assert (row.outcome, row.status, row.error) == ("failed", 400, sample.error(answer.body))
    assert len(strict.up.calls) == number


@pytest.mark.parametrize("damage", WRONG.values(), ids=WRONG)
async def test_fields_of_the_wrong_type_are_refused(damage: Damage, path: str, sample: Sample, strict: Wire) -> None:
    """The message names the field and what it has to be."""
    answer = await strict.ask(whole(b"{}"), path, dump(damage(sample.request(), sample.key)))

    assert answer.status == 400
    assert "'model'" in sample.error(answer.body) or f"'{sample.key}" in sample.error(answer.body)
    assert ": " in sample.error(answer.body) or "is not" in sample.error(answer.body)
    assert (await strict.gateway.row(answer)).outcome == "failed"


@pytest.mark.parametrize("message", NO_ROLE, ids=["none", "a number", "null", "nothing at all"])
async def test_a_message_without_a_role(message: dict[str, Any], path: str, sample: Sample, strict: Wire) -> None:
    """It is refused by name where every message has one, and else for the provider to judge."""
    body = dump(sample.request() | {sample.key: [message]})
    answer = await strict.ask(whole(sample.answer("ok")), path, body)

    if sample.needed:
        assert answer.status == 400
        assert f"{sample.key}[0].role" in sample.error(answer.body)
    else:
        assert (answer.status, strict.up.last.body) == (200, body)


@pytest.mark.parametrize(
    "content",
    [None, 4, {"text": "x"}, [], [None, 4, "x", [], {}], [{"type": "text"}], [{"type": "text", "text": None}], True],
    ids=["null", "number", "object", "empty list", "list of anything", "part without text", "text null", "true"],
)
@pytest.mark.parametrize("role", ["user", "tool", "assistant", "nobody"])
async def test_contents_that_we_cannot_read_are_for_the_provider_to_judge(
    content: object, role: str, path: str, sample: Sample, strict: Wire
) -> None:
    """They pass as they are: providers take more than we know."""
    request = sample.request([Step("ls", "x")])
    request[sample.key].append({"role": role, "content": content, "tool_call_id": 7, "tool_calls": content})
    body = dump(request)
    answer = await strict.ask(whole(sample.answer("ok")), path, body)

    assert (answer.status, strict.up.last.body) == (200, body)


@pytest.mark.parametrize(
    ("name", "value"),
    [("stream", "yes"), ("stream", None), ("tools", "x"), ("tools", [1, {}]), ("tools", None), ("prompt_cache_key", 4)],
    ids=["stream a string", "stream null", "tools a string", "tools of anything", "tools null", "cache key a number"],
)
async def test_other_fields_are_for_the_provider_to_judge(
    name: str, value: object, path: str, sample: Sample, strict: Wire
) -> None:
    """Nothing of ours depends on their type."""
    body = dump(sample.request() | {name: value})
    answer = await strict.ask(whole(sample.answer("ok")), path, body)

    assert (answer.status, strict.up.last.body) == (200, body)


@pytest.mark.parametrize("announced", [True, False], ids=["announced", "not announced"])
async def test_a_body_over_the_limit_is_refused(announced: bool, path: str, sample: Sample, strict: Wire) -> None:
    """With 413, before it is read to its end, and with the name of the setting."""
    async with connected(strict.gateway.url) as client:
        if announced:
            await client.send("POST", path, [JSON, ("content-length", str(100 << 20))])
        else:
            await client.send("POST", path, [JSON, ("transfer-encoding", "chunked")])
            await client.write(b"110000\r\n" + b" " * 0x110000 + b"\r\n")
        answer = await client.answer()

    assert answer.status == 413
    assert "max_body_mb" in sample.error(answer.body)
    assert (await strict.gateway.row(answer)).status == 413


async def test_a_body_that_unpacks_to_more_than_the_limit_is_refused(path: str, sample: Sample, strict: Wire) -> None:
    """A small one may hold gigabytes."""
    bomb = gzip.compress(b'{"model": "m-1", "x": [' + b" " * (8 << 20) + b"]}")
    answer = await strict.ask(whole(b"{}"), path, bomb, headers=[JSON, ("content-encoding", "gzip")])

    assert answer.status == 413
    assert "max_body_mb" in sample.error(answer.body)


@pytest.mark.parametrize(
    ("encoding", "body"),
    [("gzip", b"no gzip"), ("zstd", b"\x28\xb5\x2f\xfd"), ("br", b"\x00\x01\x02"), ("rot13", b"{}")],
    ids=["not gzip", "cut short", "not br", "unknown"],
)
async def test_an_encoding_that_cannot_be_undone_is_refused(
    encoding: str, body: bytes, path: str, sample: Sample, strict: Wire
) -> None:
    """The message names the encodings that are taken."""
    answer = await strict.ask(whole(b"{}"), path, body, headers=[JSON, ("content-encoding", encoding)])

    assert answer.status == 400
    assert "zstd" in sample.error(answer.body)


async def test_an_unknown_model_is_refused(path: str, sample: Sample, strict: Wire) -> None:
    """With 404, the patterns that are served, and where to add one."""
    answer = await strict.ask(whole(b"{}"), path, dump(sample.request(model="x-9")))

    assert answer.status == 404
    assert json.loads(answer.body)["error"].items() & {("code", "model_not_found"), ("type", "not_found_error")}
    assert all(part in sample.error(answer.body) for part in ("x-9", "m-*", "config.yaml"))
    row = await strict.gateway.row(answer)
    assert (row.outcome, row.status, row.model) == ("failed", 404, "x-9")


async def test_an_upstream_that_is_down_is_named(path: str, sample: Sample, strict: Wire) -> None:
    """With 502, its address, and what to check."""
    answer = await strict.ask(whole(b"{}"), path, dump(sample.request(model="d-1")))

    assert answer.status == 502
    assert all(part in sample.error(answer.body) for part in ("'down'", "http://127.0.0.1", "check"))
    assert (await strict.gateway.row(answer)).outcome == "failed"


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
async def test_an_upstream_that_never_answers_is_given_up(
    stream: bool, path: str, sample: Sample, strict: Wire
) -> None:
    """After the longest silence that is allowed; its connection is closed."""

    async def silent(call: Call) -> None:
        await call.gone.wait()

    answer = await strict.ask(silent, path, dump(sample.request(stream=stream)))

    assert answer.status == 502
    assert "silent" in sample.error(answer.body)
    await asyncio.wait_for(strict.up.last.gone.wait(), 1)


async def test_an_upstream_that_hangs_up_without_a_word_is_named(path: str, sample: Sample, strict: Wire) -> None:
    """It is no answer of 200, and no hanging client."""

    async def hang_up(call: Call) -> None:
        call.reset()

    answer = await strict.ask(hang_up, path, dump(sample.request()))
    assert (answer.status, "closed the connection" in sample.error(answer.body)) == (502, True)


@pytest.mark.parametrize(
    "said",
    [b"garbage\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n", b"HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\n"],
    ids=["no HTTP", "no status", "a length below nought"],
)
async def test_an_upstream_that_speaks_no_http_is_named(said: bytes, path: str, sample: Sample, strict: Wire) -> None:
    """What it says is nobody's answer."""

    async def babble(call: Call) -> None:
        await call.write(said)
        call.writer.close()

    answer = await strict.ask(babble, path, dump(sample.request()))
    assert answer.status == 502
    assert "'up'" in sample.error(answer.body)


async def test_a_key_that_nobody_gave_is_asked_for(path: str, sample: Sample, strict: Wire) -> None:
    """The message names the variable to set."""
    answer = await strict.ask(whole(b"{}"), path, dump(sample.request(model="k-1")))

    assert answer.status == 401
    assert "NO_SUCH_KEY" in sample.error(answer.body)


async def test_the_process_lives(path: str, sample: Sample, strict: Wire) -> None:
    """After all that, requests are served."""
    answer = await strict.ask(whole(sample.answer("ok")), path, dump(sample.request()))
    health = await strict.ask(whole(b"{}"), "/healthz", None, method="GET")

    assert (answer.status, answer.body) == (200, sample.answer("ok"))
    assert json.loads(health.body)["status"] == "ok"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([], 401),
        ([("authorization", "Bearer wrong")], 401),
        ([("authorization", "Bearer ")], 401),
        ([("authorization", "Bearer alices-key")], 200),
        ([("authorization", "bearer alices-key")], 200),
        ([("x-api-key", "alices-key")], 200),
        ([("authorization", "Bearer caf\xc3\xa9")], 401),
    ],
    ids=["none", "wrong", "empty", "right", "right, in small letters", "right, in another header", "beyond ASCII"],
)
async def test_only_listed_clients_are_let_in(
    headers: Headers,
    status: int,
    path: str,
    sample: Sample,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where there is a list; a key that is not on it gets 401, and no upstream is asked."""
    monkeypatch.setenv("ALICE", "alices-key")
    async with upstream(whole(sample.answer("ok"))) as up:
        config = configured(
            up.url, clients=(Client(name="alice", key_env="ALICE"), Client(name="bob", key_env="UNSET"))
        )
        async with service(config, tmp_path_factory.mktemp("data")) as gateway:
            answer = await Wire(up, gateway).ask(up.reply, path, dump(sample.request()), headers=[JSON, *headers])
            row = await gateway.row(answer)

        assert (answer.status, len(up.calls)) == (status, int(status == 200))
        if status == 401:
            assert "config.yaml" in sample.error(answer.body)
        else:
            assert row.tenant == "alice"


SWITCHES: dict[str, tuple[dict[str, Any], Headers, int]] = {
    "everything is on": ({}, [], 1),
    "on by header": ({}, [("x-taco-rewrite", "on")], 1),
    "off by header": ({}, [("x-taco-rewrite", "off")], 0),
    "off by header, in capitals": ({}, [("X-Taco-Rewrite", "OFF")], 0),
    "off altogether": ({"rewriting": Rewriting(enabled=False)}, [], 0),
    "off for the tool": ({"rewriting": Rewriting(tools_off=("bash",))}, [], 0),
    "off for another tool": ({"rewriting": Rewriting(tools_off=("read",))}, [], 1),
}


@pytest.mark.parametrize("switch", SWITCHES.values(), ids=SWITCHES)
async def test_rewriting_can_be_switched_off(
    switch: tuple[dict[str, Any], Headers, int], path: str, sample: Sample, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """For a request, a tool, an upstream, or altogether; then the body is the client's, and on record."""
    sections, headers, rewritten = switch
    body = dump(sample.request([Step("tar cvf a.tar .", PROGRESS)]))
    folder = tmp_path_factory.mktemp("data")
    async with upstream(whole(sample.answer("ok"))) as up, service(configured(up.url, **sections), folder) as gateway:
        answer = await Wire(up, gateway).ask(up.reply, path, body, headers=[JSON, *headers])
        row = await gateway.row(answer)

    assert (up.last.body != body) == bool(rewritten)
    assert len(row.rewrites) == rewritten
    assert row.kept == ({} if rewritten else {"off": 1})


async def test_rewriting_can_be_switched_off_for_an_upstream(
    path: str, sample: Sample, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The others go on."""
    async with upstream(whole(sample.answer("ok"))) as up:
        off = Upstream(name="off", url=f"{up.url}/v1", models=("off-*",), rewrite=False)
        config = configured(up.url)
        config = replace(config, upstreams=(off, *config.upstreams))
        async with service(config, tmp_path_factory.mktemp("data")) as gateway:
            bodies = [dump(sample.request([Step(f"tar {m}", PROGRESS)], model=m)) for m in ("off-1", "m-1")]
            for body in bodies:
                await Wire(up, gateway).ask(up.reply, path, body)

    assert up.calls[0].body == bodies[0]
    assert up.calls[1].body != bodies[1]


async def test_tenants_are_told_apart_without_keeping_their_keys(path: str, sample: Sample, line: Wire) -> None:
    """A request has the same tenant as all of the same key, and no other."""
    rows = []
    for key in ("Bearer one", "Bearer one", "Bearer two"):
        headers = [JSON, ("authorization", key)]
        answer = await line.ask(whole(sample.answer("ok")), path, dump(sample.request()), headers=headers)
        rows.append(await line.gateway.row(answer))

    assert rows[0].tenant == rows[1].tenant == tenant_of(b"one")
    assert rows[2].tenant != rows[0].tenant
    assert answer.header(ID)
