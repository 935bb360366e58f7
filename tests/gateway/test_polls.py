"""News of a run are output of the command that started it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gateway.messages.chat_completions import read_message
from gateway.polls import followed, started
from gateway.types import Call

POLL = {"session_id": 7, "chars": "", "yield_time_ms": 1000}


def poll(**given: Any) -> Call:
    """A call with these arguments."""
    return Call(id="2", tool="write_stdin", arguments=json.dumps(given))


def named(result: str, tool: str = "exec_command", arguments: str = '{"cmd": "make all"}') -> dict[str, str]:
    """The runs that such a result of such a call names."""
    raw = json.dumps({"role": "tool", "tool_call_id": "1", "content": result}).encode()
    message = read_message(raw, 0)
    return dict(started(message, {"1": (Call(id="1", tool=tool, arguments=arguments), message)}))


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(poll(), id="no arguments"),
        pytest.param(poll(session_id=8), id="another run"),
        pytest.param(poll(path="7"), id="a number that names something else"),
        pytest.param(poll(session_id=[7]), id="a list"),
        pytest.param(Call(id="2", tool="t", arguments="7"), id="no object"),
        pytest.param(Call(id="2", tool="t", arguments="{"), id="no JSON"),
    ],
)
def test_other_calls_stay(call: Call) -> None:
    """Only a call that names a known run is one that asks for it."""
    assert followed(call, {"7": "make all"}) == call
    assert followed(poll(**POLL), {}) == poll(**POLL)


@pytest.mark.parametrize(
    ("call", "command"),
    [
        pytest.param(poll(**POLL), "make all", id="Codex"),
        pytest.param(poll(bash_id="7"), "make all", id="Claude Code, older"),
        pytest.param(poll(task_id="7", block=True), "make all", id="Claude Code"),
        pytest.param(poll(cell_id="7", yield_time_ms=100), "make all", id="Codex, a script"),
        pytest.param(poll(shellId="7", delay=5), "make all", id="Copilot"),
        pytest.param(poll(action="poll", sessionId="7"), "make all", id="OpenClaw"),
        pytest.param(poll(session_id=7, chars="cat a.py\n"), "make all\ncat a.py", id="with something typed"),
    ],
)
def test_a_poll_carries_the_command(call: Call, command: str) -> None:
    """What was started, and what is typed into it."""
    assert followed(call, {"7": "make all"}).command == command


@pytest.mark.parametrize(
    ("result", "name"),
    [
        pytest.param("Wall time: 1.0 seconds\nProcess running with session ID 32087\nOutput:\n", "32087", id="Codex"),
        pytest.param("Script running with cell ID 5\nWall time 0.5 seconds\nOutput:\n", "5", id="Codex, a script"),
        pytest.param("Command running in background with ID: bd93b1a. Output is written", "bd93b1a", id="Claude Code"),
        pytest.param("Command still running (session calm-owl, pid 16). Use process", "calm-owl", id="OpenClaw"),
        pytest.param("started\n<shellId: 12>", "12", id="Copilot"),
        pytest.param("x" * 5000 + "\nsession_id: 4", "4", id="at the end of much output"),
    ],
)
def test_results_name_their_run(result: str, name: str) -> None:
    """In the words of the agents, before or after what was printed."""
    assert named(result) == {name: "make all"}


@pytest.mark.parametrize(
    "runs",
    [
        pytest.param(named("done"), id="a run that ended"),
        pytest.param(named("x" * 5000 + " session 5 " + "x" * 5000), id="amid the output"),
        pytest.param(named("session 5", tool="read", arguments='{"path": "a"}'), id="no command"),
    ],
)
def test_nothing_is_named(runs: dict[str, str]) -> None:
    """A name stands at an end of a command's result."""
    assert runs == {}
