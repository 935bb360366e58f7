"""Models behind another format: the real litellm against the scripted provider, through the whole gateway."""

from __future__ import annotations

import asyncio
import gzip
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from gateway.config import Upstream
from gateway.playback import Received
from gateway.providers.scripted import Scripted
from gateway.providers.via_litellm import ViaLitellm, translated
from gateway.replies import Reply
from gateway.replies.chat_completions import read_reply
from gateway.scenario import Fault, Scenario, Turn
from gateway.serving import serving
from gateway.types import Request
from tests.samples import PROGRESS, SAMPLES, Step, dump
from tests.service import ID, Service, configured, service
from tests.wire import JSON, Answer, ask, connected, upstream, whole

PATH = "/v1/chat/completions"
SAMPLE = SAMPLES[PATH]
TEXT = "Größe 漢字 😀 " * 6

pytestmark = pytest.mark.filterwarnings("ignore")
on_one_loop = pytest.mark.asyncio(loop_scope="module")


class Provider:
    """A provider whose scenario a test sets."""

    def __init__(self) -> None:
        self.play(Turn(text="Done."))

    def play(self, *turns: Turn) -> None:
        """Say these turns from now on."""
        self.app = Scripted(Scenario(turns))

    @property
    def last(self) -> Received:
        """The newest request."""
        return self.app.received[-1]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        await self.app(scope, receive, send)


Line = tuple[Provider, Service]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def line(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Line]:
    """A gateway that reaches the provider by way of litellm."""
    provider = Provider()
    async with serving(provider) as url, upstream(whole(b"{}")) as nobody:
        ups = (
            Upstream(name="there", via="litellm", url=f"{url}/v1", models=("hosted_vllm/*",)),
            Upstream(name="nowhere", via="litellm", url="http://127.0.0.1:9/v1", models=("openai/*",)),
        )
        config = configured(nobody.url, upstreams=ups)
        async with service(config, tmp_path_factory.mktemp("data")) as gateway:
            yield provider, gateway


async def send(line: Line, request: dict[str, Any]) -> tuple[Answer, Reply]:
    """The answer to a request, and what it says."""
    headers = [JSON, ("authorization", "Bearer key-of-the-client")]
    answer = await ask(line[1].url, PATH, dump({"model": "hosted_vllm/m"} | request), headers=headers)
    return answer, read_reply(answer.body, answer.header("content-type") or "")


def request(*steps: Step, **more: Any) -> dict[str, Any]:
    """A conversation after these steps, for the model behind litellm."""
    return SAMPLE.request(steps, model="hosted_vllm/m", **more)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@on_one_loop
async def test_a_turn_with_text_and_calls(stream: bool, line: Line) -> None:
    """Arrives whole; the provider got the client's key and parameters, and is told to stream if the client wants it."""
    line[0].play(Turn(text=TEXT, shell=("ls", "pwd -P")))
    more: dict[str, Any] = {"stream_options": {"include_usage": True}} if stream else {}
    answer, reply = await send(line, request(stream=stream, temperature=0.25, seed=7, **more))
    asked = json.loads(line[0].last.body)
    row = await line[1].row(answer)

    assert (answer.status, answer.clean, reply.error, reply.complete) == (200, True, None, True)
    assert reply.message["content"] == TEXT
    calls = [
        (call["id"], call["function"]["name"], call["function"]["arguments"]) for call in reply.message["tool_calls"]
    ]
    assert calls == [("call_0_0", "bash", '{"command": "ls"}'), ("call_0_1", "bash", '{"command": "pwd -P"}')]
    assert reply.finish_reason == "tool_calls"
    assert (asked["model"], asked["temperature"], asked["seed"], asked.get("stream", False)) == ("m", 0.25, 7, stream)
    assert dict(line[0].last.headers)["authorization"] == "Bearer key-of-the-client"
    assert asked["messages"] == request()["messages"]
    assert reply.usage is not None
    assert reply.usage["prompt_tokens"] > 100
    assert (row.outcome, row.upstream, row.status) == ("completed", "there", 200)
    assert row.reported is not None
    assert row.reported["prompt_tokens"] == reply.usage["prompt_tokens"]


@on_one_loop
async def test_a_compressed_request_is_understood(line: Line) -> None:
    """Where nothing is rewritten, too."""
    line[0].play(Turn(text="ok"))
    headers = [JSON, ("content-encoding", "gzip")]
    answer = await ask(line[1].url, PATH, gzip.compress(dump(request())), headers=headers)

    assert answer.status == 200
    assert json.loads(line[0].last.body)["messages"] == request()["messages"]


KEYS = {
    "another provider's key": ("Bearer sk-ant-1", "openai/m", {}, None),
    "not Anthropic's key": ("Bearer sk-proj-1", "anthropic/m", {}, None),
    "another provider's key, and one of ours": ("Bearer sk-ant-1", "openai/m", {"key_env": "OURS"}, "ours"),
    "no key": ("", "openai/m", {}, None),
    "its provider's key": ("Bearer sk-proj-1", "openai/m", {}, "sk-proj-1"),
    "Anthropic's key": ("Bearer sk-ant-1", "anthropic/m", {}, "sk-ant-1"),
    "any key for the one place that is configured": ("Bearer sk-ant-1", "openai/m", {"url": "http://x/v1"}, "sk-ant-1"),
    "a key that is not to be passed on": (
        "Bearer sk-proj-1",
        "openai/m",
        {"client_key": False, "key_env": "OURS"},
        "ours",
    ),
}


@pytest.mark.parametrize(("sent", "model", "settings", "used"), KEYS.values(), ids=KEYS)
def test_whose_key_a_provider_gets(
    sent: str, model: str, settings: dict[str, Any], used: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The login of an agent is not shown to the maker of another model."""
    monkeypatch.setenv("OURS", "ours")
    provider = ViaLitellm(Upstream(name="l", via="litellm", **settings))
    headers = ((b"authorization", sent.encode()),) if sent else ()
    asked = Request(id="r", method="POST", path=PATH, headers=headers, body=b"{}", model=model, stream=False)

    assert provider._key(asked) == used


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@on_one_loop
async def test_tool_results_are_rewritten_on_this_way_too(stream: bool, line: Line) -> None:
    """Once, and then replayed."""
    line[0].play(Turn(text="ok"))
    noisy = Step(f"tar cvf {stream}.tar .", PROGRESS)
    for steps in ([noisy], [noisy, Step("true", "")]):
        answer, _ = await send(line, request(*steps, stream=stream))
        assert answer.status == 200
    first, second = (SAMPLE.outputs(json.loads(r.body)) for r in line[0].app.received[-2:])

    assert len(first[0]) < 200
    assert second[0] == first[0]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503])
@on_one_loop
async def test_an_error_keeps_its_status(status: int, stream: bool, line: Line) -> None:
    """With what the provider said and when to come back; nothing is tried a second time."""
    line[0].play(Turn(text="x", fault=Fault(times=0, status=status, retry_after=7)))
    answer, reply = await send(line, request(stream=stream))

    assert answer.status == status
    assert "fails as its scenario says" in SAMPLE.error(answer.body)
    assert "fails as its scenario says" in str(reply.error)
    assert answer.header("retry-after") == "7"
    assert len(line[0].app.received) == 1
    assert (await line[1].row(answer)).outcome == "failed"


@on_one_loop
async def test_a_stream_that_breaks_is_no_clean_end(line: Line) -> None:
    """What came before is there, and an error event."""
    line[0].play(Turn(text=TEXT, fault=Fault(times=0, break_after=3)))
    answer, reply = await send(line, request(stream=True))

    assert answer.status == 200
    assert not answer.clean
    assert not reply.complete
    assert "broke off" in str(reply.error)
    assert TEXT.startswith(reply.message["content"])
    assert (await line[1].row(answer)).outcome == "failed"


@on_one_loop
async def test_a_provider_that_is_down_is_named(line: Line) -> None:
    """With 502 and no word of litellm's inside."""
    answer = await ask(
        line[1].url, PATH, dump(SAMPLE.request(model="openai/x")), headers=[JSON, ("authorization", "Bearer k")]
    )

    assert answer.status == 502
    assert "nowhere" in SAMPLE.error(answer.body)
    assert "Traceback" not in SAMPLE.error(answer.body)


@on_one_loop
async def test_a_client_that_leaves_stops_the_provider(line: Line) -> None:
    """Within a second, in the middle of a stream."""
    line[0].play(Turn(text=TEXT * 40, fault=Fault(delay_each=0.05)))
    async with connected(line[1].url) as client:
        await client.send("POST", PATH, [JSON, (ID, "leaves")], dump(request(stream=True)))
        _, headers = await client.stream.head()
        await anext(client.stream.pieces(headers))
        client.leave()
        await asyncio.wait_for(line[0].last.left.wait(), 1)

    assert (await line[1].row("leaves")).outcome == "abandoned"


@pytest.mark.parametrize(
    ("path", "status"), [("/v1/embeddings", 400), ("/v1/completions", 400)], ids=["embeddings", "legacy completions"]
)
@on_one_loop
async def test_other_paths_cannot_be_translated(path: str, status: int, line: Line) -> None:
    """The error says what serves them."""
    answer = await ask(line[1].url, path, b'{"model": "hosted_vllm/m", "input": "x"}')

    assert answer.status == status
    assert "passes through" in SAMPLE.error(answer.body)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"messages": [{"role": "user", "content": "x"}], "stream": None}, id="a null"),
        pytest.param({"messages": [{"role": "user", "content": "\ud800"}]}, id="a lone surrogate"),
        pytest.param({"messages": [{"role": "user"}], "no_such_field": {"a": 1}}, id="an unknown field"),
        pytest.param({"messages": [{"role": "nobody", "content": 4}]}, id="wrong types"),
        pytest.param(
            {"messages": [{"role": "user", "content": "x"}], "acompletion": 1, "num_retries": 9},
            id="names of litellm's own",
        ),
    ],
)
@on_one_loop
async def test_odd_requests_get_an_answer(body: dict[str, Any], line: Line) -> None:
    """Be it the provider's or an error in the shape's form; nothing of the client's steers litellm."""
    line[0].play(Turn(text="ok"))
    answer, _ = await send(line, body)

    assert answer.status in (200, 400, 422, 500)
    if answer.status != 200:
        assert SAMPLE.error(answer.body)
    assert len(line[0].app.received) <= 1


def test_nothing_of_the_client_steers_litellm() -> None:
    """Where a request goes, and with whose key, is not the client's to say."""
    steering = {
        "api_base": "http://x.test",
        "api_key": "k",
        "custom_llm_provider": "y",
        "mock_response": "z",
        "extra_headers": {},
    }
    arguments = translated({"model": "m", "messages": [], "stream": True, "seed": 1, **steering})

    assert arguments == {"seed": 1, "extra_body": steering}


def test_litellm_is_not_loaded_before_it_is_needed() -> None:
    """It takes seconds."""
    code = "import sys, gateway.app, gateway.providers.via_litellm; print('litellm' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
