"""Notes of gateways that run: found while they serve, and only then."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from gateway.running import announced, find, health, is_alive
from gateway.serving import serving


def application(status: object) -> Starlette:
    """Something that has a `/healthz`."""
    return Starlette(routes=[Route("/healthz", lambda request: JSONResponse(status))])


def names(folder: Path) -> list[str]:
    """What is in a folder."""
    return [path.name for path in folder.iterdir()]


@pytest.fixture
def dead_pid() -> int:
    """The id of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    return process.pid


@pytest.mark.parametrize(
    "note",
    [
        pytest.param("", id="an empty note"),
        pytest.param("[]", id="another form"),
        pytest.param('{"pid": "x", "url": 1}', id="no process id"),
    ],
)
def test_notes_that_cannot_be_read(tmp_path: Path, note: str) -> None:
    """A damaged note is no gateway, and no error."""
    (tmp_path / "running-1.json").write_text(note)
    assert find(tmp_path) is None


def test_notes_of_the_dead_are_removed(tmp_path: Path, dead_pid: int) -> None:
    """A gateway that was killed leaves its note; the next look takes it away."""
    note = tmp_path / f"running-{dead_pid}.json"
    note.write_text(json.dumps({"pid": dead_pid, "url": "http://127.0.0.1:9"}))
    assert not is_alive(dead_pid)
    assert find(tmp_path) is None
    assert not note.exists()


async def test_a_port_that_answers_something_else(tmp_path: Path) -> None:
    """What says nothing of its health is no gateway, though its process lives."""
    async with serving(application([])) as url:
        with announced(tmp_path, url):
            assert await asyncio.to_thread(find, tmp_path) is None
            assert len(names(tmp_path)) == 1


async def test_found_while_it_serves(tmp_path: Path) -> None:
    """A gateway is found by its folder until it ends."""
    async with serving(application({"status": "ok"})) as url:
        with announced(tmp_path, url):
            assert await asyncio.to_thread(find, tmp_path) == url
            assert await asyncio.to_thread(health, url) == {"status": "ok"}
        assert await asyncio.to_thread(find, tmp_path) is None
    assert names(tmp_path) == []
