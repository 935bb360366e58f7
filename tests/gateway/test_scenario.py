"""Scenarios: which turn is due, and how it is said to the agent at hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gateway.replies.chat_completions import read_reply
from gateway.scenario import Fault, Scenario, ScenarioError, Turn, answer, deltas, load_scenario
from gateway.sse import Event, encode

LOOK = Turn(text="Look.", shell=("ls -a",))
USER = {"role": "user", "content": "go"}
SAID = {"role": "assistant", "content": "x"}


def tool(name: str, properties: dict[str, Any], required: list[str] | None = None) -> dict[str, Any]:
    """A tool as a request declares it."""
    schema = {"type": "object", "properties": properties, **({"required": required} if required is not None else {})}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


TEXT = {"type": "string"}
BASH = tool("bash", {"command": TEXT, "timeout": {"type": "integer"}}, ["command"])
EDITOR = tool("editor", {"command": {"type": "string", "enum": ["view", "create"]}, "path": TEXT}, ["command", "path"])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param("", "not JSON", id="nothing"),
        pytest.param("[]", 'a list "turns"', id="no object"),
        pytest.param('{"turns": []}', "not empty", id="no turns"),
        pytest.param('{"turns": ["x"]}', "turn 0", id="a turn that is no object"),
        pytest.param('{"turns": [{}, {"sell": "ls"}]}', "turn 1 .*'sell'", id="a field that does not exist"),
        pytest.param('{"turns": [{"fault": {"stats": 1}}]}', "turn 0 .*'stats'", id="a fault that does not exist"),
    ],
)
def test_refused(text: str, problem: str) -> None:
    """A scenario that cannot be played says which turn is wrong."""
    with pytest.raises(ScenarioError, match=problem):
        load_scenario(text)


def test_loads() -> None:
    """One command may stand without its list; all that is missing has a default."""
    turns = [{"text": "Look.", "shell": "ls -a"}, {"shell": ["a", "b"], "fault": {"status": 429, "retry_after": 2}}]
    fault = Fault(status=429, retry_after=2)
    assert load_scenario(json.dumps({"turns": turns})) == Scenario((LOOK, Turn(shell=("a", "b"), fault=fault)))


@pytest.mark.parametrize(
    ("messages", "due"),
    [
        pytest.param([], 0, id="an empty conversation"),
        pytest.param([USER], 0, id="the first request"),
        pytest.param([USER, SAID, USER], 1, id="after one answer"),
        pytest.param([USER, *[SAID, USER] * 5], 1, id="after more answers than there are turns"),
    ],
)
def test_due_turn(messages: list[dict[str, Any]], due: int) -> None:
    """The number of answers in the request decides, so that a retry gets the same turn."""
    assert Scenario((LOOK, Turn(text="Done."))).turn(messages)[0] == due


@pytest.mark.parametrize(
    ("tools", "name", "arguments"),
    [
        pytest.param([BASH], "bash", {"command": "ls -a"}, id="the usual tool"),
        pytest.param([EDITOR, BASH], "bash", {"command": "ls -a"}, id="a command that is one of a few words is none"),
        pytest.param(
            [tool("task", {"command": TEXT}, []), BASH],
            "bash",
            {"command": "ls -a"},
            id="a command that need not be given is none",
        ),
        pytest.param([tool("exec", {"cmd": TEXT})], "exec", {"cmd": "ls -a"}, id="a schema that requires nothing"),
        pytest.param(
            [tool("run", {"commands": {"type": "array"}}, ["commands"])],
            "run",
            {"commands": ["ls -a"]},
            id="a list of commands",
        ),
        pytest.param(
            [tool("shell", {"command": {"type": "array"}}, ["command"])],
            "shell",
            {"command": ["bash", "-lc", "ls -a"]},
            id="a list of words",
        ),
        pytest.param(
            [
                tool(
                    "sh",
                    {
                        "command": TEXT,
                        "why": TEXT,
                        "bg": {"type": "boolean"},
                        "risk": {"type": "string", "enum": ["low", "high"]},
                    },
                    ["command", "why", "bg", "risk"],
                )
            ],
            "sh",
            {"command": "ls -a", "why": "", "bg": False, "risk": "low"},
            id="other required arguments are filled in",
        ),
    ],
)
def test_calls_the_command_tool(tools: list[dict[str, Any]], name: str, arguments: dict[str, object]) -> None:
    """The command goes to the tool that takes one, in that tool's own schema."""
    (called,) = answer(LOOK, 3, {"messages": [USER], "tools": tools})["tool_calls"]
    assert (called["id"], called["function"]["name"]) == ("call_3_0", name)
    assert json.loads(called["function"]["arguments"]) == arguments


@pytest.mark.parametrize(
    ("prompt", "content"),
    [
        pytest.param("go", "Look.\n\n```bash\nls -a\n```", id="a fenced block"),
        pytest.param(
            "use ```mswea_bash_command", "Look.\n\n```mswea_bash_command\nls -a\n```", id="mini-swe-agent's block"
        ),
    ],
)
def test_says_the_command_in_words(prompt: str, content: str) -> None:
    """Without tools the command is a block in the text."""
    message = answer(LOOK, 0, {"messages": [{"role": "user", "content": prompt}]})
    assert message == {"role": "assistant", "content": content}


@pytest.mark.parametrize(("turn", "keys"), [(LOOK, ["ls -a\n"]), (Turn(text="Done."), [])])
def test_terminus(turn: Turn, keys: list[str]) -> None:
    """An agent that asks for keystrokes gets them as JSON; a turn without any completes the task."""
    message = answer(turn, 0, {"messages": [{"role": "user", "content": "JSON with keystrokes, please"}]})
    plan = json.loads(message["content"])
    assert [command["keystrokes"] for command in plan["commands"]] == keys
    assert plan["task_complete"] == (not keys)


def test_deltas_add_up() -> None:
    """The deltas of a message, read as a stream, are the message."""
    turn = Turn(text="Look at \u2028 this. " * 9, reasoning="Hm. " * 9, shell=("ls", "pwd"))
    message = answer(turn, 0, {"messages": [USER], "tools": [BASH]})
    chunks = [{"choices": [{"index": 0, "delta": fields}]} for fields in deltas(message)]
    assert len(chunks) > 15
    assert read_reply(b"".join(encode(Event(json.dumps(c))) for c in chunks), "text/event-stream").message == message
