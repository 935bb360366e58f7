"""The command line as a process of its own: fixtures for the tests that need one."""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gateway.__main__ import main

ROOT = Path(__file__).parents[1]
PATIENCE = 30.0


@dataclass(frozen=True)
class Ended:
    """A command that ran to its end."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Started:
    """A gateway that serves."""

    url: str
    data: Path
    process: Process


def environment(**more: str) -> dict[str, str]:
    """The environment of a command: this checkout's code, and nothing of the person who runs the tests."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    return {**kept, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error", **more}


def invoke(*arguments: str | Path) -> Result:
    """A command in this process; what it raises is raised here, unless it is an exit."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


Run = Callable[..., Awaitable[Ended]]
Start = Callable[..., Awaitable[Started]]


@pytest.fixture
def taco(tmp_path: Path) -> Run:
    """Runs a command to its end: ``await taco("stats", "--json", HOME="…")``."""

    async def run(*arguments: str | Path, **more: str) -> Ended:
        process = await _command(arguments, {"HOME": str(tmp_path), **more})
        out, err = await asyncio.wait_for(process.communicate(), PATIENCE)
        return Ended(process.returncode or 0, out.decode(), err.decode())

    return run


@pytest.fixture
async def start(tmp_path: Path) -> AsyncIterator[Start]:
    """Starts a gateway on a free port: ``await start("--upstream", url)``; it has to end well when the test does."""
    started: list[Process] = []

    async def up(*options: str, data: Path = tmp_path / "data", **more: str) -> Started:
        process = await _command(("up", "--port", "0", "--data", data, *options), {"HOME": str(tmp_path), **more})
        started.append(process)
        assert process.stdout
        line = (await asyncio.wait_for(process.stdout.readline(), PATIENCE)).decode()
        return Started(line.strip().partition("=")[2].removesuffix("/v1"), data, process)

    yield up
    for process in started:
        if process.returncode is None:
            process.terminate()
        await asyncio.wait_for(process.communicate(), PATIENCE)
        assert process.returncode == 0


async def _command(arguments: tuple[str | Path, ...], more: dict[str, str]) -> Process:
    words = [sys.executable, "-m", "gateway", *map(str, arguments)]
    return await asyncio.create_subprocess_exec(*words, env=environment(**more), stdout=PIPE, stderr=PIPE)
