"""`up`: it serves, can be found, ends gracefully, and says in one line why it does not start."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from click.testing import CliRunner

from gateway.__main__ import main
from gateway.commands import up
from gateway.config import ANTHROPIC, OPENAI, Client, Config
from gateway.providers.scripted import Scripted
from gateway.scenario import Fault, Scenario, Turn
from gateway.serving import serving

ASK = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "q"}]}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        pytest.param(
            ["--config", "{dir}/none.yaml"],
            "none.yaml: cannot be read: No such file or directory; pass",
            id="no such configuration",
        ),
        pytest.param(
            ["--config", "{dir}/bad.yaml"], "bad.yaml, line 2: unknown key 'prot' in server", id="a wrong key"
        ),
        pytest.param(["--upstream", "host/v1"], "--upstream: needs a url that begins", id="an upstream that is no URL"),
        pytest.param(["--data", "{dir}/bad.yaml"], "bad.yaml: File exists; pass another folder", id="a file as folder"),
        pytest.param(["--data", "{dir}/bad.yaml/x"], "Not a directory; pass another folder", id="a folder in a file"),
    ],
)
def test_refuses_in_one_line(tmp_path: Path, options: list[str], said: str) -> None:
    """What cannot be used is named with its line, and the exit code is 2."""
    (tmp_path / "bad.yaml").write_text("server:\n  prot: 1\n")
    data = ["--data", str(tmp_path / "data")]
    result = CliRunner().invoke(main, ["up", *data, *(option.format(dir=tmp_path) for option in options)])
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1


async def test_a_taken_port(tmp_path: Path, taco: Any) -> None:
    """Somebody else's port is left alone."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = await taco("up", "--port", str(port), "--data", tmp_path)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"Error: cannot listen on 127.0.0.1 port {port}: Address already in use; pass --port 0")


async def test_a_host_that_nobody_knows(tmp_path: Path, taco: Any) -> None:
    """Another port would not help."""
    ended = await taco("up", "--host", "nobody.test", "--data", tmp_path)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("Error: cannot listen on nobody.test port 8787: ")
    assert ended.err.endswith("; pass another --host\n")
    assert "while" not in ended.err
    assert "Unknown" not in ended.err


async def test_rules_that_cannot_be_used(tmp_path: Path, taco: Any) -> None:
    """What goes wrong while the application starts is said as plainly."""
    (tmp_path / "rules.json").write_text("[3]")
    (tmp_path / "config.yaml").write_text(f"rewriting:\n  rules_file: {tmp_path / 'rules.json'}\n")
    ended = await taco("up", "--port", "0", "--data", tmp_path)
    assert (ended.code, ended.out) == (2, "")
    assert "rules.json: rules[0]: must be an object" in ended.err
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize(
    ("host", "clients", "keys"),
    [
        pytest.param("127.0.0.1", (), [], id="this machine only"),
        pytest.param("localhost", (), [], id="this machine by name"),
        pytest.param("0.0.0.0", (Client(name="a", key_env="A_KEY"),), [], id="everybody, of whom some are let in"),
        pytest.param("0.0.0.0", (), ["OPENAI_API_KEY"], id="everybody"),
        pytest.param("::", (), ["OPENAI_API_KEY"], id="everybody by the newer kind of address"),
        pytest.param("192.168.1.2", (), ["OPENAI_API_KEY"], id="a network"),
    ],
)
def test_whose_keys_others_may_use(
    host: str, clients: tuple[Client, ...], keys: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is said where anybody may."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)

    assert up.lent(Config(upstreams=(ANTHROPIC, OPENAI, OPENAI), clients=clients), host) == keys


@pytest.mark.parametrize(
    ("limits", "most", "now"),
    [
        pytest.param((256, 200_000), 10**9, 65_536, id="the system grants more"),
        pytest.param((256, 4_096), 10**9, 4_096, id="it grants some"),
        pytest.param((256, -1), 20_000, 10_240, id="it says that there is no limit, and has one"),
        pytest.param((256, -1), 300, 256, id="it grants nothing"),
        pytest.param((100_000, 200_000), 10**9, 100_000, id="there are enough"),
        pytest.param((-1, -1), 10**9, -1, id="there is no limit"),
    ],
)
def test_as_many_connections_as_the_system_grants(
    limits: tuple[int, int], most: int, now: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And never fewer than there were."""
    given = [limits]

    def set_limit(what: int, wanted: tuple[int, int]) -> None:
        if wanted[0] > most:
            raise ValueError("not allowed")
        given.append(wanted)

    monkeypatch.setattr("resource.RLIM_INFINITY", -1)
    monkeypatch.setattr("resource.getrlimit", lambda what: given[-1])
    monkeypatch.setattr("resource.setrlimit", set_limit)
    up.allow_connections()

    assert given[-1] == (now, limits[1])


async def test_serves_until_told_to_stop(start: Any) -> None:
    """What it prints can be pasted; nothing is added to the upstream's headers but the request's id."""
    async with serving(Scripted(Scenario())) as upstream, aiohttp.ClientSession() as client:
        async with client.get(f"{upstream}/v1/models") as direct:
            wanted = set(direct.headers)
        gateway = await start("--upstream", f"{upstream}/v1")
        async with client.get(f"{gateway.url}/v1/models") as response:
            assert (response.status, set(response.headers)) == (200, wanted | {"x-taco-request-id"})
    (note,) = gateway.data.glob("running-*.json")
    assert json.loads(note.read_text())["url"] == gateway.url
    assert (gateway.data.stat().st_mode & 0o777) == 0o700
    gateway.process.send_signal(signal.SIGINT)
    out, err = await gateway.process.communicate()
    assert out.decode() == f"export OPENAI_API_BASE={gateway.url}/v1\nexport ANTHROPIC_BASE_URL={gateway.url}\n"
    assert f"taco-gateway run --data {gateway.data} -- AGENT" in err.decode()
    assert "Stopping" in err.decode()
    assert gateway.process.returncode == 0
    assert not note.exists()


@pytest.mark.parametrize("signals", [1, 2], ids=["told once", "by its process group and by what started it"])
async def test_requests_under_way_are_finished(signals: int, start: Any, taco: Any) -> None:
    """An answer that streams while the gateway is told to stop comes whole, and is on record."""
    slow = Scenario((Turn(text="x" * 200, fault=Fault(times=0, delay_each=0.1)),))
    async with serving(Scripted(slow)) as upstream, aiohttp.ClientSession() as client:
        gateway = await start("--upstream", f"{upstream}/v1")
        async with client.post(f"{gateway.url}/v1/chat/completions", json=ASK) as response:
            await response.content.readany()
            for _ in range(signals):
                gateway.process.terminate()
                await asyncio.sleep(0.1)
            rest = await response.content.read()
    assert rest.endswith(b"data: [DONE]\n\n")
    assert await asyncio.wait_for(gateway.process.wait(), 10) == 0
    stats = await taco("stats", "--json", "--data", gateway.data)
    assert json.loads(stats.out)["outcomes"] == {"completed": 1}
