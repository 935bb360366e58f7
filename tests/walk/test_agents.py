"""A real agent from the package index, unmodified, that runs noisy commands through a gateway."""

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
import pytest
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
