"""The SDKs that most agents use read the same through the gateway as without it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import anthropic
import openai
import pytest

from gateway.providers.scripted import Scripted
from gateway.scenario import Scenario, Turn
from gateway.serving import serving

LISTING = "".join(f"{number:6}\tname_{number} = compute({number})\n" for number in range(1, 120))
SAYS = Scenario((Turn(text="Grüße " * 20, reasoning="Hm.", shell=("ls", "echo 'ü'")),))
COMMANDS = [{"command": "ls"}, {"command": "echo 'ü'"}]
SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}


@dataclass(frozen=True)
class Heard:
    """An answer, as an SDK reads it."""

    text: str
    calls: tuple[tuple[str, dict[str, Any]], ...]
    reason: str | None
    prompt: int
    answer: int


Ask = Callable[[str, int, bool], Awaitable[Heard]]
"""(base URL, results of a command in the request, streamed) → the answer."""


async def chat(url: str, results: int, streamed: bool) -> Heard:
    """OpenAI's SDK, chat completions."""
    tool = {"type": "function", "function": {"name": "bash", "parameters": SCHEMA}}
    told = [{"role": "tool", "tool_call_id": f"c{n}", "content": LISTING} for n in range(results)]
    asked: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Look."}, *told], "tools": [tool]}
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0) as client:
        if streamed:
            async with client.chat.completions.stream(**asked, stream_options={"include_usage": True}) as stream:
                said: Any = await stream.get_final_completion()
        else:
            said = await client.chat.completions.create(**asked)
    (choice,) = said.choices
    calls = tuple((call.id, _parsed(call.function.arguments)) for call in choice.message.tool_calls)
    return Heard(
        choice.message.content, calls, choice.finish_reason, said.usage.prompt_tokens, said.usage.completion_tokens
    )


async def responses(url: str, results: int, streamed: bool) -> Heard:
    """OpenAI's SDK, Responses."""
    tool = {"type": "function", "name": "bash", "parameters": SCHEMA, "strict": False}
    told = [{"type": "function_call_output", "call_id": f"c{n}", "output": LISTING} for n in range(results)]
    asked: dict[str, Any] = {"model": "m", "input": [{"role": "user", "content": "Look."}, *told], "tools": [tool]}
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0) as client:
        if streamed:
            async with client.responses.stream(**asked) as stream:
                said: Any = await stream.get_final_response()
        else:
            said = await client.responses.create(**asked)
    calls = tuple((item.call_id, _parsed(item.arguments)) for item in said.output if item.type == "function_call")
    return Heard(said.output_text, calls, said.status, said.usage.input_tokens, said.usage.output_tokens)


async def messages(url: str, results: int, streamed: bool) -> Heard:
    """Anthropic's SDK."""
    tool = {"name": "bash", "input_schema": SCHEMA}
    made = [{"type": "tool_use", "id": f"c{n}", "name": "bash", "input": {"command": "cat x"}} for n in range(results)]
    told = [{"type": "tool_result", "tool_use_id": f"c{n}", "content": LISTING} for n in range(results)]
    turn = [{"role": "assistant", "content": made}, {"role": "user", "content": told}] if results else []
    asked: dict[str, Any] = {"model": "claude-m", "max_tokens": 999, "tools": [tool]}
    asked["messages"] = [{"role": "user", "content": "Look."}, *turn]
    async with anthropic.AsyncAnthropic(base_url=url, api_key="k", max_retries=0) as client:
        if streamed:
            async with client.messages.stream(**asked) as stream:
                said: Any = await stream.get_final_message()
        else:
            said = await client.messages.create(**asked)
    text = "".join(block.text for block in said.content if block.type == "text")
    calls = tuple((block.id, block.input) for block in said.content if block.type == "tool_use")
    return Heard(text, calls, said.stop_reason, said.usage.input_tokens, said.usage.output_tokens)


def _parsed(arguments: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(arguments)
    return read


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("results", [0, 2], ids=["nothing to rewrite", "two results"])
@pytest.mark.parametrize("ask", [chat, responses, messages], ids=lambda ask: ask.__name__)
async def test_an_sdk_reads_the_same(ask: Ask, results: int, streamed: bool, start: Any) -> None:
    """The same answer through the gateway as without it, with the usage that the provider reports."""
    direct, behind = Scripted(SAYS), Scripted(SAYS)
    async with serving(direct) as url, serving(behind) as other:
        gateway = await start("--upstream", f"{other}/v1")
        plain, through = [await ask(base, results, streamed) for base in (url, gateway.url)]
    assert (through.text, through.calls, through.reason) == (plain.text, plain.calls, plain.reason)
    assert [arguments for _, arguments in through.calls] == COMMANDS
    assert through.text == "Grüße " * 20
    assert through.answer == plain.answer
    if results:
        assert through.prompt < plain.prompt
        assert len(behind.received[0].body) < len(direct.received[0].body)
    else:
        assert through.prompt == plain.prompt
        assert behind.received[0].body == direct.received[0].body
