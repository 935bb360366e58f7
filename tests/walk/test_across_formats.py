"""A client of Messages on a model of another API: over sockets, through the real litellm, to a provider of chat completions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anthropic
import pytest
import pytest_asyncio

from gateway.config import OPENAI, Upstream
from gateway.playback import Received
from gateway.providers.scripted import Scripted
from gateway.replies import Reply
from gateway.replies.anthropic_messages import read_reply
from gateway.scenario import Fault, Scenario, Turn
from gateway.serving import serving
from tests.samples import PROGRESS, SAMPLES, TASK, Step, dump
from tests.service import ID, Service, configured, service
from tests.wire import JSON, Answer, ask, connected, upstream, whole

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.asyncio(loop_scope="module")]

PATH = "/v1/messages"
SAMPLE = SAMPLES[PATH]
TEXT = "Größe 漢字 😀 " * 6
KEY = ("x-api-key", "key-of-the-client")
TOOL = {
    "name": "bash",
    "description": "Runs a command.",
    "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
}
whole_and_streamed = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


class Provider:
    """A provider whose scenario a test sets."""

    def __init__(self) -> None:
        self.play(Turn(text="Done."))

    def play(self, *turns: Turn) -> None:
        """Say these turns from now on."""
        self.app = Scripted(Scenario(turns))

    @property
    def received(self) -> list[Received]:
        """All requests since."""
        return self.app.received

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        await self.app(scope, receive, send)


Line = tuple[Provider, Service]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def line(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Line]:
    """A gateway that reaches the provider by way of litellm."""
    provider = Provider()
    async with serving(provider) as url, upstream(whole(b"{}")) as nobody:
        there = Upstream(name="there", via="litellm", url=f"{url}/v1", models=("hosted_vllm/*",))
        nowhere = Upstream(name="nowhere", via="litellm", url="http://127.0.0.1:9/v1", models=("openai/*",))
        config = configured(nobody.url, upstreams=(there, nowhere))
        async with service(config, tmp_path_factory.mktemp("data")) as gateway:
            yield provider, gateway


def request(*steps: Step, **more: Any) -> dict[str, Any]:
    """A conversation after these steps, for the model behind litellm."""
    return SAMPLE.request(steps, **{"model": "hosted_vllm/m", "tools": [TOOL], **more})


async def send(line: Line, body: dict[str, Any], path: str = f"{PATH}?beta=true") -> tuple[Answer, Reply]:
    """The answer to a request, and what it says."""
    answer = await ask(line[1].url, path, dump(body), headers=[JSON, ("anthropic-version", "2023-06-01"), KEY])
    return answer, read_reply(answer.body, answer.header("content-type") or "")


@whole_and_streamed
async def test_a_turn_with_thoughts_words_and_calls(stream: bool, line: Line) -> None:
    """Comes as blocks, with why it ends and what it cost; the provider got the client's key, tools and system text."""
    line[0].play(Turn(text=TEXT, reasoning="Let me see.", shell=("ls", "pwd -P")))
    answer, reply = await send(line, request(stream=stream, temperature=0.25, thinking={"type": "adaptive"}))
    asked = json.loads(line[0].received[-1].body)
    row = await line[1].row(answer)

    assert (answer.status, answer.clean, reply.error, reply.complete) == (200, True, None, True)
    thought, said, *calls = reply.message["content"]
    assert (thought["thinking"], said) == ("Let me see.", {"type": "text", "text": TEXT})
    assert [(c["id"], c["name"], c["input"]) for c in calls] == [
        ("call_0_0", "bash", {"command": "ls"}),
        ("call_0_1", "bash", {"command": "pwd -P"}),
    ]
    assert reply.finish_reason == "tool_use"
    assert reply.usage is not None
    assert min(reply.usage["input_tokens"], reply.usage["output_tokens"]) > 10
    assert asked["messages"] == [{"role": "system", "content": "You use a shell."}, {"role": "user", "content": TASK}]
    assert asked["tools"][0]["function"]["parameters"] == TOOL["input_schema"]
    assert (asked["model"], asked["max_tokens"], asked["temperature"]) == ("m", 1000, 0.25)
    assert dict(line[0].received[-1].headers)["authorization"] == "Bearer key-of-the-client"
    assert (row.shape, row.outcome, row.upstream, row.status) == ("anthropic_messages", "completed", "there", 200)
    assert row.reported == reply.usage


@whole_and_streamed
async def test_results_are_rewritten_on_this_way_too(stream: bool, line: Line) -> None:
    """Once, and then replayed; each is an answer to its call."""
    line[0].play(Turn(text="ok"))
    noisy = Step(f"tar cvf {stream}.tar .", PROGRESS)
    for steps in ([noisy], [noisy, Step("true", "")]):
        answer, _ = await send(line, request(*steps, stream=stream))
        assert answer.status == 200
    first, second = (json.loads(received.body)["messages"] for received in line[0].received)

    assert first[-1]["tool_call_id"] == first[-2]["tool_calls"][0]["id"] == "toolu_0"
    assert first[-1]["role"] == "tool"
    assert len(first[-1]["content"]) < 200
    assert second[: len(first)] == first


@whole_and_streamed
@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, "invalid_request_error"), (401, "authentication_error"), (404, "not_found_error"), (429, "rate_limit_error"), (503, "api_error")],
)  # fmt: skip
async def test_an_error_keeps_its_status(status: int, kind: str, stream: bool, line: Line) -> None:
    """In the form of the client's API, with what the provider said and when to come back; nothing is tried again."""
    line[0].play(Turn(text="x", fault=Fault(times=0, status=status, retry_after=7)))
    answer, reply = await send(line, request(stream=stream))

    assert answer.status == status
    assert "fails as its scenario says" in SAMPLE.error(answer.body)
    assert json.loads(answer.body)["error"]["type"] == kind
    assert "fails as its scenario says" in str(reply.error)
    assert answer.header("retry-after") == "7"
    assert len(line[0].received) == 1
    assert (await line[1].row(answer)).outcome == "failed"


async def test_a_stream_that_breaks_is_no_clean_end(line: Line) -> None:
    """What came before is there, and an error event of this form."""
    line[0].play(Turn(text=TEXT, fault=Fault(times=0, break_after=3)))
    answer, reply = await send(line, request(stream=True))

    assert (answer.status, answer.clean, reply.complete) == (200, False, False)
    assert "broke off" in str(reply.error)
    assert SAMPLE.error_event(answer.body[answer.body.index(b"event: error") :])
    assert TEXT.startswith(reply.message["content"][0]["text"])


async def test_a_provider_that_is_down_is_named(line: Line) -> None:
    """With 502."""
    answer, _ = await send(line, request(model="openai/x"))

    assert answer.status == 502
    assert "nowhere" in SAMPLE.error(answer.body)


@pytest.mark.parametrize(
    ("body", "path", "words"),
    [
        (request(tools=[{"type": "web_search_20250305", "name": "web_search"}]), PATH, "tools[0]"),
        (request(mcp_servers=[{"url": "https://x.test"}]), PATH, "mcp_servers"),
        (request(Step("cat x.pdf", "x"), parts=[{"type": "document"}]), PATH, "messages[2].content[0].content[1]"),
        (request(), f"{PATH}/count_tokens", "passes through"),
        (request(), f"{PATH}/batches", "passes through"),
    ],
    ids=["a tool of Anthropic's", "a field", "a block", "counting", "batches"],
)
async def test_what_cannot_be_translated_is_an_error_that_says_so(body: Any, path: str, words: str, line: Line) -> None:
    """In the form of the client's API, and the provider hears nothing."""
    line[0].play(Turn(text="x"))
    answer, _ = await send(line, body, path)

    assert answer.status == 400
    assert words in SAMPLE.error(answer.body)
    assert json.loads(answer.body)["error"]["type"] == "invalid_request_error"
    assert line[0].received == []


async def test_a_client_that_leaves_stops_the_provider(line: Line) -> None:
    """Within a second, in the middle of a stream."""
    line[0].play(Turn(text=TEXT * 40, fault=Fault(delay_each=0.05)))
    async with connected(line[1].url) as client:
        await client.send("POST", PATH, [JSON, (ID, "leaves")], dump(request(stream=True)))
        _, headers = await client.stream.head()
        await anext(client.stream.pieces(headers))
        client.leave()
        await asyncio.wait_for(line[0].received[-1].left.wait(), 1)

    assert (await line[1].row("leaves")).outcome == "abandoned"


@whole_and_streamed
async def test_an_agent_on_anthropics_sdk_comes_to_its_end(stream: bool, line: Line) -> None:
    """It runs what it is asked to, sends back what it got in the blocks that it got, and is understood."""
    line[0].play(Turn(text="Look.", reasoning="Hm.", shell=("ls", "pwd")), Turn(shell=("tar",)), Turn(text="Done."))
    messages: list[Any] = [{"role": "user", "content": TASK}]
    asked: dict[str, Any] = {"model": "hosted_vllm/m", "max_tokens": 99, "tools": [TOOL], "system": "You use a shell."}
    async with anthropic.AsyncAnthropic(base_url=line[1].url, api_key="k", max_retries=0) as client:
        reason: str | None = "tool_use"
        while reason == "tool_use":
            if stream:
                async with client.messages.stream(messages=messages, **asked) as events:
                    said: Any = await events.get_final_message()
            else:
                said = await client.messages.create(messages=messages, **asked)
            reason = said.stop_reason
            calls = [block for block in said.content if block.type == "tool_use"]
            results = [{"type": "tool_result", "tool_use_id": call.id, "content": PROGRESS} for call in calls]
            messages += [{"role": "assistant", "content": said.content}, {"role": "user", "content": results}]

    assert reason == "end_turn"
    assert [block.text for block in said.content] == ["Done."]
    first, second, third = (json.loads(received.body)["messages"] for received in line[0].received)
    assert (second[: len(first)], third[: len(second)]) == (first, second)
    assert [message["role"] for message in third[2:]] == ["assistant", "tool", "tool", "assistant", "tool"]
    assert all(len(message["content"]) < 200 for message in third if message["role"] == "tool")


async def test_anthropics_sdk_raises_its_own_errors(line: Line) -> None:
    """By the status, with the words of the provider."""
    line[0].play(Turn(text="x", fault=Fault(times=0, status=429)))
    async with anthropic.AsyncAnthropic(base_url=line[1].url, api_key="k", max_retries=0) as client:
        with pytest.raises(anthropic.RateLimitError, match="fails as its scenario says"):
            await client.messages.create(
                model="hosted_vllm/m", max_tokens=9, messages=[{"role": "user", "content": "hi"}]
            )


@pytest.mark.parametrize("path", [PATH, f"{PATH}/count_tokens"])
async def test_a_model_of_openai_without_its_makers_name(path: str, tmp_path: Path) -> None:
    """Who does not speak this API gets nothing, and no key of another maker's; the client is told the name to give."""
    body = SAMPLE.request()
    async with service(configured("", upstreams=(OPENAI,)), tmp_path) as gateway:
        answer = await ask(gateway.url, path, dump(body | {"model": "gpt-5.1"}), headers=[JSON, KEY])

    assert answer.status == 404
    assert "openai/gpt-5.1" in SAMPLE.error(answer.body)
