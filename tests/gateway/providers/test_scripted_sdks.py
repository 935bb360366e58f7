"""The scripted provider as the official SDKs hear it: whole, streamed, kept, and through a WebSocket."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import anthropic
import openai
import pytest
from anthropic.types import Message, RawMessageStreamEvent
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from gateway.providers.scripted import Scripted
from gateway.scenario import Scenario, Turn
from gateway.serving import serving

SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
BASH: Any = {"type": "function", "name": "bash", "parameters": SCHEMA, "strict": False}
CLAUDES: Any = {"name": "Bash", "input_schema": SCHEMA}
FIRST = Turn(text="Größe " * 12, reasoning="Hm.", shell=("ls", "pwd"))
TURNS = (FIRST, Turn(text="Again.", shell=("ls",)), Turn(text="Done."))


@asynccontextmanager
async def openai_client() -> AsyncIterator[openai.AsyncOpenAI]:
    """OpenAI's SDK at a provider."""
    async with (
        serving(Scripted(Scenario(TURNS))) as url,
        openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0) as client,
    ):
        yield client


@asynccontextmanager
async def anthropic_client() -> AsyncIterator[anthropic.AsyncAnthropic]:
    """Anthropic's SDK at a provider."""
    async with (
        serving(Scripted(Scenario(TURNS))) as url,
        anthropic.AsyncAnthropic(base_url=url, api_key="k", max_retries=0) as client,
    ):
        yield client


def result(call: Any) -> dict[str, Any]:
    """What a call of the model gave."""
    return {"type": "function_call_output", "call_id": call.call_id, "output": "out"}


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
async def test_responses(streamed: bool) -> None:
    """OpenAI's SDK reads words, thoughts, calls and usage; an answer that it sends back leads to the next turn."""
    asked: dict[str, Any] = {"model": "m", "tools": [BASH]}
    async with openai_client() as client:

        async def ask(given: Any) -> Any:
            if not streamed:
                return await client.responses.create(**asked, input=given)
            async with client.responses.stream(**asked, input=given) as stream:
                return await stream.get_final_response()

        first = await ask("go")
        calls = [item for item in first.output if item.type == "function_call"]
        second = await ask([{"role": "user", "content": "go"}, *first.output, *map(result, calls)])
    assert (first.output_text, first.output[0].summary[0].text) == (FIRST.text, "Hm.")
    assert [json.loads(call.arguments) for call in calls] == [{"command": "ls"}, {"command": "pwd"}]
    assert (first.status, first.usage.input_tokens_details.cached_tokens) == ("completed", 0)
    assert (second.output_text, second.output[-1].call_id) == ("Again.", "call_1_0")
    assert 0 < first.usage.input_tokens <= second.usage.input_tokens_details.cached_tokens


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
async def test_messages(streamed: bool) -> None:
    """Anthropic's SDK reads words, signed thoughts and calls; an answer that it sends back leads to the next turn."""
    asked: dict[str, Any] = {"model": "m", "max_tokens": 99, "tools": [CLAUDES]}
    task = {"role": "user", "content": [{"type": "text", "text": "go", "cache_control": {"type": "ephemeral"}}]}
    async with anthropic_client() as client:

        async def ask(messages: Any) -> Any:
            if not streamed:
                return await client.messages.create(**asked, messages=messages)
            async with client.messages.stream(**asked, messages=messages) as stream:
                return await stream.get_final_message()

        first = await ask([task])
        results = [{"type": "tool_result", "tool_use_id": block.id, "content": "out"} for block in first.content[2:]]
        said = {"role": "assistant", "content": [block.model_dump() for block in first.content]}
        second = await ask([task, said, {"role": "user", "content": results}])
        counted = await client.messages.count_tokens(model="m", messages=[{"role": "user", "content": "go"}])
    thought, text, *calls = first.content
    assert (thought.thinking, bool(thought.signature), text.text) == ("Hm.", True, FIRST.text)
    assert [(call.name, call.input) for call in calls] == [("Bash", {"command": "ls"}), ("Bash", {"command": "pwd"})]
    assert (first.stop_reason, second.content[0].text, second.content[1].id) == ("tool_use", "Again.", "toolu_1_0")
    assert first.usage.cache_creation_input_tokens == second.usage.cache_read_input_tokens > 0
    assert counted.input_tokens > 0


@pytest.mark.parametrize(
    "tool",
    [
        pytest.param(BASH, id="a function"),
        pytest.param({"type": "custom", "name": "bash"}, id="a custom tool"),
        pytest.param({"type": "shell"}, id="the shell"),
        pytest.param({"type": "local_shell"}, id="the local shell"),
    ],
)
async def test_all_events_of_responses(tool: dict[str, Any]) -> None:
    """Each is what the SDK's own type says, with nothing missing."""
    read = TypeAdapter(ResponseStreamEvent)
    async with serving(Scripted(Scenario(TURNS))) as url, aiohttp.ClientSession(url) as client:
        asked = {"model": "m", "input": "go", "tools": [tool]}
        async with client.post("/v1/responses", json=asked | {"stream": True}) as response:
            lines = (await response.text()).split("\n")
        async with client.post("/v1/responses", json=asked) as response:
            Response.model_validate_json(await response.read(), strict=True)
    events = [read.validate_json(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]
    assert events[-1].type == "response.completed"


async def test_all_events_of_messages() -> None:
    """Each but the ping is what the SDK's own type says, with nothing missing."""
    read: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)
    async with serving(Scripted(Scenario(TURNS))) as url, aiohttp.ClientSession(url) as client:
        asked = {"model": "m", "messages": [{"role": "user", "content": "go"}], "tools": [CLAUDES]}
        async with client.post("/v1/messages", json=asked | {"stream": True}) as response:
            data = [line.removeprefix("data: ") for line in (await response.text()).split("\n") if "data: " in line]
        async with client.post("/v1/messages", json=asked) as response:
            Message.model_validate_json(await response.read(), strict=True)
    events = [read.validate_json(line) for line in data if line != '{"type": "ping"}']
    assert len(events) == len(data) - 1
    assert events[-1].type == "message_stop"


async def test_goes_on_from_a_response() -> None:
    """Only what is new is sent; what the provider was not to store it does not know."""
    asked: dict[str, Any] = {"model": "m", "tools": [BASH]}
    async with openai_client() as client:
        first = await client.responses.create(**asked, input="go")
        given: Any = [result(first.output[-1])]
        for _ in range(2):
            second = await client.responses.create(**asked, input=given, previous_response_id=first.id, store=False)
            assert second.output_text == "Again."
        assert second.previous_response_id == first.id
        with pytest.raises(openai.BadRequestError, match="not found"):
            await client.responses.create(**asked, input=given, previous_response_id=second.id)


async def test_a_conversation_at_the_provider() -> None:
    """It is opened, and grows under its name."""
    async with openai_client() as client:
        made = await client.conversations.create(items=[{"type": "message", "role": "user", "content": "hi"}])
        asked: dict[str, Any] = {"model": "m", "tools": [BASH], "input": "go", "conversation": made.id}
        said = [(await client.responses.create(**asked)).output_text for _ in range(3)]
    assert said == [turn.text for turn in TURNS]


async def test_looks_up_what_is_kept() -> None:
    """A response can be had again, with what led to it, until it is deleted."""
    async with openai_client() as client:
        made = await client.responses.create(model="m", input="go")
        again = await client.responses.retrieve(made.id)
        ended = await client.responses.cancel(made.id)
        given = await client.responses.input_items.list(made.id)
        await client.responses.delete(made.id)
        for gone in (client.responses.retrieve, client.responses.delete):
            with pytest.raises(openai.NotFoundError):
                await gone(made.id)
    assert again == ended == made
    assert [(item.type, getattr(item, "role", "")) for item in given.data] == [("message", "user")]


async def test_compacts() -> None:
    """People's words stay, the rest is one item; who goes on from that gets the next turn."""
    asked: dict[str, Any] = {"model": "m", "tools": [BASH]}
    async with openai_client() as client:
        first = await client.responses.create(**asked, input="go")
        shrunk = await client.responses.compact(model="m", previous_response_id=first.id)
        more: Any = [
            *(item.model_dump(exclude_none=True, warnings=False) for item in shrunk.output),
            {"role": "user", "content": "on"},
        ]
        second = await client.responses.create(**asked, input=more)
        counted = await client.responses.input_tokens.count(model="m", input="go")
    assert [item.type for item in shrunk.output] == ["message", "compaction"]
    assert second.output_text == "Again."
    assert (counted.object, counted.input_tokens > 0) == ("response.input_tokens", True)


async def test_through_a_websocket() -> None:
    """A warm-up and two turns, each with what is new; nothing is stored, and the connection remembers."""
    async with openai_client() as client, client.responses.connect(max_retries=0) as connection:

        async def ask(given: Any, **more: Any) -> Any:
            await connection.response.create(model="m", tools=[BASH], store=False, input=given, **more)
            events = [await connection.recv()]
            while events[-1].type != "response.completed":
                events.append(await connection.recv())
            assert [event.sequence_number for event in events] == list(range(len(events)))
            return events[-1].response

        warm = await ask([], generate=False)
        first = await ask("go", previous_response_id=warm.id)
        await connection.response.steer(previous_response_id=first.id, input="gently")
        accepted = await connection.recv()
        second = await ask([result(first.output[-1])], previous_response_id=first.id)
    assert accepted.type == "response.steer.accepted"
    assert (warm.output, first.output_text, second.output_text) == ([], FIRST.text, "Again.")
