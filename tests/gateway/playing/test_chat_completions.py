"""Chat completions, as the scripted model reads and speaks them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gateway.playing.chat_completions import answer, error, read, stream
from gateway.playing.commands import COMMAND, Tool
from gateway.playing.saying import Refused, Said, Usage
from gateway.replies.chat_completions import read_reply
from gateway.scenario import Fault
from gateway.sse import encode

USER = {"role": "user", "content": "go"}
SAID = {"role": "assistant", "content": "x"}
RESULT = {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "out"}]}
BASH = {"type": "function", "function": {"name": "bash", "parameters": COMMAND}}
USAGE = Usage(prompt=9, cached=4, written=0, answer=7, reasoning=2)
TURN = Said(
    number=3, text="Größe\u2028 " * 9, reasoning="Hm. " * 9, tool=Tool(name="sh", schema=COMMAND), commands=("ls", "a")
)


@pytest.mark.parametrize(
    ("messages", "answers", "told"),
    [
        pytest.param([], 0, (), id="an empty conversation"),
        pytest.param([USER], 0, (), id="the task is nothing that was told"),
        pytest.param([USER, SAID, RESULT], 1, ("out",), id="a result"),
        pytest.param([USER, SAID, RESULT, SAID, USER], 2, ("out", "go"), id="terminals speak as users"),
    ],
)
def test_reads(messages: list[dict[str, Any]], answers: int, told: tuple[str, ...]) -> None:
    """Each message of the assistant is a turn."""
    asked = read({"messages": messages, "tools": [BASH, {"type": "custom"}]})
    assert (asked.answers, asked.told) == (answers, told)
    assert asked.tools == (Tool(name="bash", schema=COMMAND),)


def test_answers() -> None:
    """The message has words, thoughts, and calls with the turn's number."""
    whole = answer(TURN, read({"model": "m", "messages": [USER]}), USAGE, 8)
    (choice,) = whole["choices"]
    calls = choice["message"]["tool_calls"]
    assert [call["id"] for call in calls] == ["call_3_0", "call_3_1"]
    assert [json.loads(call["function"]["arguments"]) for call in calls] == [{"command": "ls"}, {"command": "a"}]
    assert (whole["model"], choice["finish_reason"]) == ("m", "tool_calls")
    assert (whole["usage"]["total_tokens"], whole["usage"]["prompt_tokens_details"]) == (16, {"cached_tokens": 4})


@pytest.mark.parametrize("said", [TURN, Said(number=0, text="Done.")], ids=["calls", "text"])
@pytest.mark.parametrize("counted", [False, True], ids=["without usage", "with usage"])
def test_the_stream_adds_up(said: Said, counted: bool) -> None:
    """Read as a stream it is the message; usage is there only where it is asked for."""
    asked = read({"messages": [USER], "stream_options": {"include_usage": counted}})
    whole = answer(said, asked, USAGE, 1)
    events = list(stream(whole, asked, Fault()))
    reply = read_reply(b"".join(map(encode, events)), "text/event-stream")
    assert len(events) > len(said.text) / 16 + 2
    assert (reply.message, reply.complete) == (whole["choices"][0]["message"], True)
    assert reply.usage == (whole["usage"] if counted else None)


def test_errors() -> None:
    """Their body is the API's."""
    assert error(Refused(429, "slow"))["error"]["message"] == "slow"
