"""Anthropic Messages, as the scripted model reads and speaks them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gateway.playing.anthropic_messages import answer, error, read, stream
from gateway.playing.commands import COMMAND, Tool
from gateway.playing.saying import Refused, Said, Usage
from gateway.replies.anthropic_messages import read_reply
from gateway.scenario import Fault
from gateway.sse import encode

USER = {"role": "user", "content": "go"}
SAID = {"role": "assistant", "content": [{"type": "text", "text": "x"}]}
NOTE = {"role": "system", "content": "a note"}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "out"}]}
MARK = {"cache_control": {"type": "ephemeral"}}
USAGE = Usage(prompt=9, cached=4, written=2, answer=7, reasoning=2)
TURN = Said(
    number=3, text="Größe\u2028 " * 9, reasoning="Hm. " * 9, tool=Tool(name="sh", schema=COMMAND), commands=("ls", "a")
)


def marked(text: str) -> dict[str, Any]:
    """A user's message with a cache mark."""
    return {"role": "user", "content": [{"type": "text", "text": text, **MARK}]}


@pytest.mark.parametrize(
    ("messages", "answers", "told"),
    [
        pytest.param([], 0, (), id="an empty conversation"),
        pytest.param([USER, NOTE], 0, (), id="the task is nothing that was told"),
        pytest.param([USER, SAID, RESULT, NOTE], 1, ("out",), id="a result, and a note of the agent's"),
        pytest.param([USER, SAID, RESULT, SAID, USER], 2, ("out", "go"), id="a person's words"),
    ],
)
def test_reads(messages: list[dict[str, Any]], answers: int, told: tuple[str, ...]) -> None:
    """Each message of the assistant is a turn."""
    asked = read({"messages": messages, "tools": [{"name": "Bash", "input_schema": COMMAND}]})
    assert (asked.answers, asked.told) == (answers, told)
    assert asked.tools == (Tool(name="Bash", schema=COMMAND),)


def test_a_tool_without_a_schema() -> None:
    """Anthropic's own is known by its type; what has none takes no command."""
    declared = [{"type": "bash_20250124", "name": "bash"}, {"type": "web_search_20250305", "name": "web_search"}]
    bash, search = read({"messages": [], "tools": declared}).tools
    assert (bash.schema, search.schema) == (COMMAND, {})


@pytest.mark.parametrize(
    ("request_", "cacheable"),
    [
        pytest.param({"messages": [USER]}, 0, id="no mark"),
        pytest.param({"messages": [marked("go"), SAID]}, 1, id="a mark on a message"),
        pytest.param({"system": [{"type": "text", "text": "s", **MARK}], "messages": [USER]}, 1, id="on the system"),
        pytest.param({"messages": [USER, SAID], **MARK}, 2, id="on the request"),
    ],
)
def test_marks(request_: dict[str, Any], cacheable: int) -> None:
    """What stands up to the last mark may be cached."""
    assert read(request_).cacheable == cacheable


def test_a_mark_that_moves_on() -> None:
    """The message that had it counts as the same, as a string too."""
    before, after = read({"messages": [marked("go")]}), read({"messages": [USER, SAID, marked("on")]})
    assert before.pieces == after.pieces[:1]


def test_answers() -> None:
    """Thoughts are signed; calls have the turn's number; what came from the cache is not counted as input."""
    whole = answer(TURN, read({"model": "m", "messages": [USER]}), USAGE, 8)
    thought, text, *calls = whole["content"]
    assert (thought["thinking"], bool(thought["signature"]), text["text"]) == (TURN.reasoning, True, TURN.text)
    assert [(call["id"], call["input"]) for call in calls] == [
        ("toolu_3_0", {"command": "ls"}),
        ("toolu_3_1", {"command": "a"}),
    ]
    assert (whole["id"], whole["model"], whole["stop_reason"]) == ("msg_8", "m", "tool_use")
    usage = whole["usage"]
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
    assert [usage[name] for name in names] == [3, 4, 2, 7]


@pytest.mark.parametrize("said", [TURN, Said(number=0, text="Done.")], ids=["calls", "text"])
def test_the_stream_adds_up(said: Said) -> None:
    """Read as a stream it is the message; each event is named after its type."""
    asked = read({"messages": [USER]})
    whole = answer(said, asked, USAGE, 1)
    events = list(stream(whole, asked, Fault()))
    reply = read_reply(b"".join(map(encode, events)), "text/event-stream")
    assert [event.name for event in events] == [json.loads(event.data)["type"] for event in events]
    assert [event.name for event in events][:2] == ["message_start", "ping"]
    assert (reply.message["content"], reply.finish_reason) == (whole["content"], whole["stop_reason"])
    assert (reply.usage, reply.complete) == (whole["usage"], True)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (503, "api_error"),
        (529, "overloaded_error"),
    ],
)
def test_errors(status: int, kind: str) -> None:
    """Their type follows the status."""
    assert error(Refused(status, "no")) == {"type": "error", "error": {"type": kind, "message": "no"}}
