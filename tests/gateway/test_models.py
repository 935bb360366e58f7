"""The list of models where there are several upstreams."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from gateway import models
from gateway.config import Client, Upstream
from tests.service import configured, service
from tests.wire import Call, Reply, ask, frame, upstream, whole


def listing(*names: str) -> Reply:
    """An upstream's list."""
    return whole(
        json.dumps({"object": "list", "data": [{"id": name, "owned_by": "x", "n": 1.5} for name in names]}).encode()
    )


async def listed(path: Path, *replies: Reply, more: tuple[Upstream, ...] = ()) -> tuple[list[str], list[Call]]:
    """The names that a client is told, and the requests that the last upstream got."""
    async with upstream(replies[0]) as one, upstream(replies[-1]) as other:
        ups = tuple(Upstream(name=str(k), url=f"{up.url}/v1") for k, up in enumerate([one, other][: len(replies)]))
        async with service(configured("", upstreams=(*ups, *more)), path) as gateway:
            headers = [("authorization", "Bearer k"), ("accept-encoding", "gzip")]
            answer = await ask(gateway.url, "/v1/models", None, method="GET", headers=headers)
        assert answer.status == 200
        return [model["id"] for model in json.loads(answer.body)["data"]], (other if len(replies) > 1 else one).calls


async def test_one_upstream_speaks_for_itself(tmp_path: Path) -> None:
    """Its list is relayed as it is."""
    async with (
        upstream(whole(b'{"data": [1.0], "more": null}')) as up,
        service(configured(up.url), tmp_path) as gateway,
    ):
        answer = await ask(gateway.url, "/v1/models?x=1", None, method="GET", headers=[])

    assert answer.body == b'{"data": [1.0], "more": null}'
    assert up.last.target == "/v1/models?x=1"


async def test_several_lists_become_one(tmp_path: Path) -> None:
    """First come first; each name once; litellm's are those of the configuration, without patterns."""
    via = Upstream(name="l", via="litellm", models=("anthropic/claude-x", "*/*"))
    names, calls = await listed(tmp_path, listing("a", "b"), listing("b", "c"), more=(via,))

    assert names == ["a", "b", "c", "anthropic/claude-x"]
    assert calls[0].header("authorization") == ["Bearer k"]
    assert calls[0].header("accept-encoding") == []


async def test_a_client_of_one_api_is_told_of_its_models_only(tmp_path: Path) -> None:
    """Its key is shown to nobody else, and the only list there is comes as it is, in its API's own form."""
    async with upstream(listing("gpt-1")) as one, upstream(whole(b'{"data": [1.0], "has_more": false}')) as other:
        ups = (
            Upstream(name="l", via="litellm", models=("*/*",)),
            Upstream(name="a", url=f"{other.url}/v1", models=("claude*",), api="anthropic"),
            Upstream(name="o", url=f"{one.url}/v1"),
        )
        async with service(configured("", upstreams=ups), tmp_path) as gateway:
            headers = [("x-api-key", "k"), ("anthropic-version", "2023-06-01")]
            theirs = await ask(gateway.url, "/v1/models", None, method="GET", headers=headers)
            headers = [("authorization", "Bearer k")]
            ours = await ask(gateway.url, "/v1/models", None, method="GET", headers=headers)
    assert theirs.body == b'{"data": [1.0], "has_more": false}'
    assert json.loads(ours.body)["data"][0]["id"] == "gpt-1"
    assert (len(one.calls), len(other.calls)) == (1, 1)


async def hang_up(call: Call) -> None:
    """No answer."""
    call.reset()


async def half(call: Call) -> None:
    """Half an answer."""
    await call.write(frame(200, [("content-length", "99")], None) + b'{"data": [')
    call.reset()


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(hang_up, id="hangs up"),
        pytest.param(half, id="breaks off"),
        pytest.param(whole(b"no JSON"), id="says no JSON"),
        pytest.param(whole(b"[]"), id="says something else"),
        pytest.param(whole(b'{"data": [4, null, "x"]}'), id="lists something else"),
        pytest.param(whole(b'{"error": {}}', 401), id="refuses"),
    ],
)
async def test_an_upstream_that_does_not_answer_is_left_out(reply: Reply, tmp_path: Path) -> None:
    """The others' models are still listed."""
    assert (await listed(tmp_path, reply, listing("c")))[0] == ["c"]


async def silence(call: Call) -> None:
    """Nothing, for longer than anybody waits."""
    await asyncio.sleep(60)


async def test_a_silent_upstream_holds_up_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others' models are listed as soon as its time is over."""
    monkeypatch.setattr(models, "PATIENCE", 0.1)
    assert (await listed(tmp_path, silence, listing("c")))[0] == ["c"]


@pytest.mark.parametrize(
    ("reply", "status", "words"),
    [
        pytest.param(whole(b'{"error": {"message": "who are you"}}', 401), 401, "who are you", id="refuses"),
        pytest.param(hang_up, 502, "without an answer", id="hangs up"),
    ],
)
async def test_where_nobody_gives_a_list_the_first_to_say_why_is_heard(
    reply: Reply, status: int, words: str, tmp_path: Path
) -> None:
    """An empty list would look like an answer."""
    async with upstream(reply) as one, upstream(whole(b"{}", 500)) as other:
        ups = tuple(Upstream(name=up.url, url=f"{up.url}/v1") for up in (one, other))
        async with service(configured("", upstreams=ups), tmp_path) as gateway:
            answer = await ask(gateway.url, "/v1/models", None, method="GET", headers=[])

    assert answer.status == status
    assert words in json.loads(answer.body)["error"]["message"]


async def test_the_list_is_for_clients_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where some are named, others do not have it fetched with a key of ours."""
    monkeypatch.setenv("ALICE", "a-key")
    async with upstream(listing("a")) as one, upstream(listing("b")) as other:
        ups = tuple(Upstream(name=up.url, url=f"{up.url}/v1") for up in (one, other))
        config = configured("", upstreams=ups, clients=(Client(name="alice", key_env="ALICE"),))
        async with service(config, tmp_path) as gateway:
            alice, nobody = [
                await ask(gateway.url, "/v1/models", None, method="GET", headers=[("authorization", f"Bearer {key}")])
                for key in ("a-key", "b-key")
            ]

    assert (alice.status, nobody.status) == (200, 401)
    assert len(one.calls) == len(other.calls) == 1


async def test_who_speaks_another_api_is_refused_in_its_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On any path."""
    monkeypatch.setenv("ALICE", "a-key")
    config = configured("http://127.0.0.1:1", clients=(Client(name="alice", key_env="ALICE"),))
    async with service(config, tmp_path) as gateway:
        headers = [("anthropic-version", "2023-06-01")]
        answer = await ask(gateway.url, "/v1/files", None, method="GET", headers=headers)

    assert (answer.status, json.loads(answer.body)["error"]["type"]) == (401, "authentication_error")
