"""`doctor`: a sound installation passes, and whatever is wrong makes the exit code 1."""

from __future__ import annotations

import asyncio
import socket
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from gateway.providers.scripted import Scripted
from gateway.scenario import Scenario
from gateway.serving import serving
from tests.commandline import invoke

CONFIG = """
server: {{port: {port}}}
upstreams:
  - {{name: here, url: "{url}/v1", key_env: DOCTORS_KEY, client_key: false}}
"""


def free_port() -> int:
    """A port that nobody has."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def test_a_broken_configuration(tmp_path: Path) -> None:
    """What does not depend on the configuration is checked all the same."""
    (tmp_path / "config.yaml").write_text("upstreams: 3\n")
    result = invoke("doctor", "--data", tmp_path)
    assert result.exit_code == 1
    assert f"wrong  config     {tmp_path}/config.yaml, line 1: upstreams must be a list" in result.stdout
    assert "ok     sqlite" in result.stdout
    assert "upstream " not in result.stdout


async def test_all_is_well(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Installation, data, upstream and keys; the key itself is never printed."""
    monkeypatch.setenv("DOCTORS_KEY", "very-secret")
    async with serving(Scripted(Scenario())) as url:
        (data / "config.yaml").write_text(CONFIG.format(port=free_port(), url=url))
        result = await asyncio.to_thread(invoke, "doctor", "--data", data)
    assert result.exit_code == 0, result.stdout
    assert result.stderr == f"All is well. Next: taco-gateway run --data {data} -- AGENT\n"
    states = {line.split()[1]: line.split()[0] for line in result.stdout.splitlines()}
    assert set(states.values()) == {"ok", "note"}
    assert {"litellm", "sqlite", "tokens", "prices", "disk", "store", "decisions", "archive", "upstream", "key"} <= {
        what for what, state in states.items() if state == "ok"
    }
    assert "very-secret" not in result.stdout


def test_what_is_wrong_is_found(data: Path) -> None:
    """A changed record, a key that is not set, an upstream that is not there: three findings, each with its remedy."""
    with closing(sqlite3.connect(data / "archive.sqlite")) as database:
        database.execute(
            """UPDATE rewrites SET facts = replace(facts, '"tokens_after":', '"tokens_after":1') WHERE seq = 1"""
        )
        database.commit()
    (data / "config.yaml").write_text(CONFIG.format(port=free_port(), url=f"http://127.0.0.1:{free_port()}"))
    result = invoke("doctor", "--data", data)
    assert result.exit_code == 1
    assert result.stderr == "3 things to mend: see above.\n"
    changed, key, upstream = (line for line in result.stdout.splitlines() if line.startswith("wrong"))
    assert "`taco-gateway audit verify` shows all" in changed
    assert "DOCTORS_KEY is not set; set it" in key
    assert "cannot be reached: [Errno 111] Connection refused; check url and network" in upstream
