"""Real agents, unmodified: each runs noisy commands through a gateway, and a tap on either side of it hears what is said."""

from __future__ import annotations

import asyncio
import json
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from gateway.agents import set_up
from gateway.providers.scripted import Scripted
from gateway.scenario import Scenario, Turn
from gateway.serving import serving
from tests.clients.comparing import RESULTS, Results, changed
from tests.clients.installing import NotHad, install
from tests.clients.stand_ins import STAND_INS, act
from tests.clients.table import CLAUDE, CLIENTS, CODEX, CODEX_ELSEWHERE, ELSEWHERE, PATIENCE, Client
from tests.clients.taps import Passed, Tap, tapped
from tests.commandline import environment

NOISE = r"""
for part in articles suppliers; do
  for percent in $(seq 0 2 100); do
    printf '\r\033[32m%-12s\033[0m %*s %3d%%' "$part" $((percent / 2)) '#' "$percent"
  done
  echo
done
for number in $(seq 60); do echo "shelf ok"; done
echo "shelf 61: error: 2 articles are missing"
sleep 0.3  # some terminals are read to their end only while somebody holds them open
"""
RULES = "".join(f"def rule_{n}(price):\n    return price * {n} + {n * n}\n\n\n" for n in range(1, 40))
LOOK = Turn(text="Look around.", shell=("ls -la && cat -n rules.py",))
TURNS = (
    LOOK,
    Turn(text="Check the stock.", shell=("sh noise.sh",)),
    Turn(text="Rule 7 is wrong.", shell=("sed -i 's/price \\* 7 /price * 8 /' rules.py && cat -n rules.py",)),
    Turn(text="Check again.", shell=("sh noise.sh; exit 3",)),
    Turn(text="Where is it used?", shell=("grep -n 'return price' rules.py",)),
    Turn(text="Rule 7 is mended."),
)
READS = (
    Turn(text="Check the stock.", shell=("sh noise.sh",)),
    Turn(find=r"shelf (\d+): error", text="It is shelf {found}.", shell=("echo {found} > shelf; cat -n rules.py",)),
    Turn(
        find=r"(\d+)\s+return price \* 39",
        text="See line {found}.",
        shell=("sed -n {found}p rules.py > line; cat line",),
    ),
    Turn(find=r"price \* 39 \+ (\d+)", text="It adds {found}."),
)
"""Each step follows from what the one before had shown."""


@pytest.fixture(scope="session")
def programs() -> Path:
    """Where the agents are installed; those tests are left out where they cannot be, and the stand-ins remain."""
    try:
        return install()
    except NotHad as error:
        pytest.skip(str(error))


@dataclass(frozen=True)
class Wire:
    """A scripted model behind a gateway, and the taps on both sides of that."""

    url: str
    front: Tap
    back: Tap

    def pairs(self, path: str) -> list[tuple[Passed, Passed]]:
        """What was sent and what arrived, request by request."""
        return [(sent, self.back.passed[n]) for n, sent in self.front.passed.items() if sent.path == path]

    def bodies(self, path: str) -> list[tuple[bytes, bytes]]:
        """Body by body, or frame by frame; fails where one was lost or added."""
        pairs = self.pairs(path)
        return list(chain.from_iterable(zip(sent.bodies, got.bodies, strict=True) for sent, got in pairs))

    def sockets(self, path: str) -> list[Passed]:
        """What was to be a WebSocket."""
        return [sent for sent, _ in self.pairs(path) if "upgrade" in {name.lower() for name in sent.headers}]


@asynccontextmanager
async def wire(start: Any, turns: Sequence[Turn], websocket: bool = True) -> AsyncIterator[Wire]:
    """All of it, in service."""
    model = Scripted(Scenario(tuple(turns)), websocket=websocket)
    async with serving(model) as provider, tapped(provider) as (back, url):
        gateway = await start("--upstream", f"{url}/v1")
        async with tapped(gateway.url) as (front, url):
            yield Wire(url, front, back)


def furnish(place: Path) -> None:
    """What there is to work on."""
    place.mkdir()
    (place / "noise.sh").write_text(NOISE)
    (place / "rules.py").write_text(RULES)


def settle(client: Client, home: Path, elsewhere: str = ELSEWHERE) -> None:
    """The person's own settings."""
    home.mkdir(exist_ok=True)
    for name, text in client.files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text.replace(ELSEWHERE, elsewhere))


async def work(client: Client, programs: Path, folder: Path, url: str) -> str:
    """The agent at work in a folder, to its end; what it printed."""
    place, home = folder / "work", folder / "home"
    furnish(place)
    settle(client, home)
    given = {
        name: value for name, value in environment(HOME=str(home), **client.variables).items() if "PYTHON" not in name
    }
    setup = set_up(client.name, url, given)
    process = await asyncio.create_subprocess_exec(
        *(str(client.program(programs)), *setup.options, *client.arguments, "Mend rule 7."),
        cwd=place,
        env={**given, **setup.variables},
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(), PATIENCE)
    assert process.returncode == 0, (out + err).decode()
    return out.decode()


def with_tools(pairs: list[tuple[bytes, bytes]]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """The requests of the main conversation: those for a title or a count have no tools."""
    read = [(json.loads(sent), json.loads(got)) for sent, got in pairs]
    return [(sent, got) for sent, got in read if sent.get("tools") or sent.get("previous_response_id")]


def judge(bodies: list[tuple[bytes, bytes]], results: Results) -> None:
    """The model received less than was sent, nothing but results of tools was changed, and what was decided once holds."""
    pairs = [pair for sent, got in bodies for pair in changed(sent, got, results)]
    assert len(set(pairs)) >= 3
    for before, after in pairs:
        assert len(after) < len(before)
        assert ("2 articles are missing" in before) == ("2 articles are missing" in after)
    assert sum(len(got) for _, got in bodies) < sum(len(sent) for sent, _ in bodies)
    decided = dict(pairs)
    for sent, got in with_tools(bodies):
        assert [decided.get(text, text) for text in results(sent)] == results(got)


@pytest.mark.parametrize("client", CLIENTS.values(), ids=[f"{name} {c.version}" for name, c in CLIENTS.items()])
async def test_an_agent_at_work(client: Client, programs: Path, tmp_path: Path, start: Any) -> None:
    """It finishes its work as it would, its model received less than it sent, and nothing but results of tools was changed."""
    async with wire(start, (Turn(text="Hello."),) * client.greeted + TURNS) as between:
        said = await work(client, programs, tmp_path, between.url)
    assert "Rule 7 is mended." in said
    assert "price * 8 + 49" in (tmp_path / "work" / "rules.py").read_text()
    assert [sent.refused for sent in between.sockets(client.path)] == [False] * client.websocket
    judge(between.bodies(client.path), RESULTS[client.path])


async def test_a_websocket_that_is_refused(programs: Path, tmp_path: Path, start: Any) -> None:
    """By the upstream: the agent goes on over HTTP, and does all the same."""
    async with wire(start, TURNS, websocket=False) as between:
        said = await work(CODEX, programs, tmp_path, between.url)
    assert "Rule 7 is mended." in said
    assert [sent.refused for sent in between.sockets(CODEX.path)] == [True]
    assert len(between.bodies(CODEX.path)) == len(TURNS)
    judge(between.bodies(CODEX.path), RESULTS[CODEX.path])


@pytest.mark.parametrize("client", [CODEX, CLAUDE], ids=["codex", "claude"])
async def test_a_model_that_reads(client: Client, programs: Path, tmp_path: Path, start: Any) -> None:
    """What it does next depends on the text that reached it: it does what it would without a gateway."""
    async with wire(start, READS) as between:
        said = await work(client, programs, tmp_path, between.url)
    assert "It adds 1521." in said
    assert (tmp_path / "work" / "shelf").read_text() == "61\n"
    assert (tmp_path / "work" / "line").read_text() == "    return price * 39 + 1521\n"
    bodies = between.bodies(client.path)
    assert len({pair for sent, got in bodies for pair in changed(sent, got, RESULTS[client.path])}) >= 2


async def test_run_leads_an_agent_through(programs: Path, tmp_path: Path, taco: Any) -> None:
    """One command is all: the provider in the person's own settings still answers, and they are not touched."""
    model = Scripted(Scenario(TURNS))
    async with serving(model) as url:
        furnish(tmp_path / "work")
        settle(CODEX_ELSEWHERE, tmp_path, f"{url}/v1")
        before = (tmp_path / ".codex" / "config.toml").read_text()
        agent = (CODEX_ELSEWHERE.program(programs), *CODEX_ELSEWHERE.arguments, "-C", tmp_path / "work", "Mend rule 7.")
        ended = await taco("run", "--data", tmp_path / "data", "--", *agent, **CODEX_ELSEWHERE.variables)
    assert "Rule 7 is mended." in ended.out, ended.err
    assert "tool results rewritten" in ended.err
    assert before in (tmp_path / ".codex" / "config.toml").read_text()
    assert {dict(request.headers)["authorization"] for request in model.received} == {"Bearer sk-own"}


@pytest.mark.parametrize("name", STAND_INS, ids=[f"{name} stand-in" for name in STAND_INS])
async def test_a_stand_in_at_work(name: str, tmp_path: Path, start: Any) -> None:
    """The same of small requests in the form of each agent, on machines where none can be installed."""
    agent = STAND_INS[name]
    furnish(tmp_path / "work")
    async with wire(start, TURNS) as between:
        await act(agent, between.url, tmp_path / "work", TURNS)
    assert "price * 8 + 49" in (tmp_path / "work" / "rules.py").read_text()
    judge(between.bodies(agent.path), RESULTS[agent.path])
