"""Real clients, unmodified: an agent that runs noisy commands through a gateway, and the SDK that most agents use."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import aiohttp
import openai
import pytest
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gateway.providers.scripted import Scripted
from gateway.scenario import Scenario, Turn
from gateway.serving import serving
from tests.commandline import environment

PATIENCE = 90.0

NOISE = """
import sys
for part in ("articles", "suppliers"):
    for percent in range(0, 101, 2):
        sys.stdout.write(f"\\r\\033[32m{part:<12}\\033[0m {'#' * (percent // 2):<50} {percent:3d}%")
    sys.stdout.write("\\n")
for number in range(60):
    print("shelf ok")
print("shelf 61: error: 2 articles are missing")
"""
MODULE = "".join(f"def rule_{n}(price):\n    return price * {n} + {n * n}\n\n\n" for n in range(1, 40))
TURNS = (
    Turn(text="Look around.", shell=("ls -la && cat -n rules.py",)),
    Turn(text="Check the stock.", shell=("python3 noise.py",)),
    Turn(text="Rule 7 is wrong.", shell=("sed -i 's/price \\* 7 /price * 8 /' rules.py && cat -n rules.py",)),
    Turn(text="Check again.", shell=("python3 noise.py; exit 3",)),
    Turn(text="Where is it used?", shell=("grep -n 'return price' rules.py noise.py",)),
    Turn(text="Done.", shell=("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT",)),
)
CONTENT = re.compile(rb'("content": ?)"(?:[^"\\]|\\.)*"')


@dataclass
class Tap:
    """Stands between an agent and the gateway, passes everything on, and keeps what the agent sent."""

    url: str
    sent: list[bytes] = field(default_factory=list)

    async def __call__(self, request: Request) -> Response:
        """Pass one request on."""
        self.sent.append(await request.body())
        headers = {name: request.headers[name] for name in ("authorization", "content-type")}
        async with (
            aiohttp.ClientSession() as client,
            client.post(f"{self.url}{request.url.path}", data=self.sent[-1], headers=headers) as answer,
        ):
            return Response(await answer.read(), answer.status, media_type=answer.content_type)


@asynccontextmanager
async def tapped(url: str) -> AsyncIterator[tuple[Tap, str]]:
    """A tap in front of a gateway, and its URL."""
    tap = Tap(url)
    async with serving(Starlette(routes=[Route("/{path:path}", tap.__call__, methods=["POST"])])) as own:
        yield tap, own


async def run_mini(url: str, folder: Path, *options: str) -> None:
    """mini-swe-agent at work in a folder, to its end."""
    (folder / "work").mkdir()
    (folder / "work" / "noise.py").write_text(NOISE)
    (folder / "work" / "rules.py").write_text(MODULE)
    agent = Path(sys.executable).with_name("mini")
    settings = {
        "HOME": str(folder),
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_API_BASE": f"{url}/v1",
        "OPENAI_API_KEY": "none",
        "MSWEA_CONFIGURED": "true",
        "MSWEA_COST_TRACKING": "ignore_errors",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "PYTHONWARNINGS": "ignore",
    }
    process = await asyncio.create_subprocess_exec(
        *(str(agent), "-y", "--exit-immediately", "-m", "openai/gpt-5.1", "-t", "Mend rule 7.", *options),
        cwd=folder / "work",
        env=environment(**settings),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    out, _ = await asyncio.wait_for(process.communicate(), PATIENCE)
    assert process.returncode == 0, out.decode()


def messages(body: bytes) -> list[dict[str, Any]]:
    """The messages of a request."""
    listed: list[dict[str, Any]] = json.loads(body)["messages"]
    return listed


def start_of(body: bytes) -> bytes:
    """The body up to the end of its last message: what the next request begins with."""
    return body.partition(b'"tools":')[0].rstrip(b"]}, ")


def frame(message: dict[str, Any]) -> tuple[object, ...]:
    """What surrounds the output in mini-swe-agent's observations: nothing of it may change."""
    content = message["content"]
    if message["role"] == "tool":
        said = json.loads(content)
        return (list(said), said["returncode"], content[:1], content[-1:])
    head, mark, rest = content.partition("<output>\n")
    return (head, mark, rest[-len("</output>") :])


@pytest.mark.parametrize(
    ("role", "options"),
    [
        pytest.param("tool", (), id="tool mode"),
        pytest.param("user", ("-c", "mini_textbased.yaml", "--model-class", "litellm_textbased"), id="text mode"),
    ],
)
async def test_mini_swe_agent(tmp_path: Path, start: Any, role: str, options: tuple[str, ...]) -> None:
    """It finishes, its model received less text than it sent, and nothing but output of commands was changed."""
    upstream = Scripted(Scenario(TURNS))
    async with serving(upstream) as url:
        gateway = await start("--upstream", f"{url}/v1")
        async with tapped(gateway.url) as (tap, own):
            await run_mini(own, tmp_path, *options)
    received = [request.body for request in upstream.received]
    assert len(received) == len(tap.sent) == len(TURNS)
    assert "price * 8 + 49" in (tmp_path / "work" / "rules.py").read_text()

    changed = 0
    for sent, got in zip(tap.sent, received, strict=True):
        assert CONTENT.sub(rb'\1""', sent) == CONTENT.sub(rb'\1""', got)
        for before, after in zip(messages(sent), messages(got), strict=True):
            if before == after:
                continue
            changed += 1
            assert before["role"] == role
            assert frame(before) == frame(after)
            assert len(after["content"]) < len(before["content"])
            assert ("2 articles are missing" in before["content"]) == ("2 articles are missing" in after["content"])
    assert changed >= 4
    assert len(received[-1]) < 0.8 * len(tap.sent[-1])
    for earlier, later in pairwise(received):
        assert later.startswith(start_of(earlier))


LISTING = "".join(f"{number:6}\tname_{number} = compute({number})\n" for number in range(1, 120))
BASH: ChatCompletionToolParam = {
    "type": "function",
    "function": {"name": "bash", "parameters": {"type": "object", "properties": {"command": {"type": "string"}}}},
}
SAYS = Scenario((Turn(text="Grüße " * 20, reasoning="Hm.", shell=("ls", "echo 'ü'")),))


def conversation(results: int) -> list[ChatCompletionMessageParam]:
    """A question and so many results of one command. None is an answer by the model: every request gets turn 0."""
    question: ChatCompletionMessageParam = {"role": "user", "content": "Look."}
    return [question, *map(_result, range(results))]


def _result(number: int) -> ChatCompletionMessageParam:
    return {"role": "tool", "tool_call_id": f"c{number}", "content": LISTING}


async def say(client: openai.AsyncOpenAI, asked: list[ChatCompletionMessageParam], streamed: bool) -> tuple[Any, ...]:
    """Text, calls and usage of an answer, as the SDK reads them."""
    if not streamed:
        whole = await client.chat.completions.create(model="m", messages=asked, tools=[BASH])
        message = whole.choices[0].message
        calls = [(c.id, c.function.arguments) for c in message.tool_calls or () if c.type == "function"]
        return message.content, calls, whole.choices[0].finish_reason, whole.usage
    stream = await client.chat.completions.create(
        model="m", messages=asked, tools=[BASH], stream=True, stream_options={"include_usage": True}
    )
    text, found, reason, usage = "", dict[int, list[str]](), None, None
    async for chunk in stream:
        usage = chunk.usage or usage
        for choice in chunk.choices:
            text += choice.delta.content or ""
            reason = choice.finish_reason or reason
            for call in choice.delta.tool_calls or ():
                said = found.setdefault(call.index, [call.id or "", ""])
                said[1] += call.function.arguments or "" if call.function else ""
    return text, [(name, arguments) for name, arguments in found.values()], reason, usage


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("results", [0, 2], ids=["nothing to rewrite", "two results"])
async def test_openai_sdk(start: Any, streamed: bool, results: int) -> None:
    """The SDK reads the same answer through the gateway as without it, with the usage that the provider reports."""
    direct, behind = Scripted(SAYS), Scripted(SAYS)
    async with serving(direct) as url, serving(behind) as other:
        gateway = await start("--upstream", f"{other}/v1")
        answers = []
        for base in (url, gateway.url):
            async with openai.AsyncOpenAI(base_url=f"{base}/v1", api_key="k", max_retries=0) as client:
                answers.append(await say(client, conversation(results), streamed))
    (*plain, plain_usage), (*through, usage) = answers
    assert through == plain
    assert [arguments for _, arguments in through[1]] == ['{"command": "ls"}', '{"command": "echo \'\\u00fc\'"}']
    assert usage is not None
    if results:
        assert usage.prompt_tokens < plain_usage.prompt_tokens
        assert usage.completion_tokens == plain_usage.completion_tokens
    else:
        assert usage == plain_usage
        assert behind.received[0].body == direct.received[0].body
