"""The lines by which a session is found again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory import ExchangeRecord, Message, RawLog, message_hash
from memory.L4_raw_sessions.compress_session import extract_history
from memory.L4_raw_sessions.history import merge
from memory.L4_raw_sessions.words import read_message
from tests.memory.L4_raw_sessions.archives import APRIL, stamp


def said(role: str, content: object, **fields: object) -> dict[str, Any]:
    """A message."""
    return {"role": role, "content": content, **fields}


def call(id_: str, name: str) -> dict[str, Any]:
    """A call of a tool."""
    return {"id": id_, "function": {"name": name, "arguments": "{}"}}


def lines(folder: Path, record: Any, *requests: tuple[list[dict[str, Any]], str | dict[str, Any] | None]) -> list[str]:
    """The lines of a session in which these requests were made, each with its reply."""
    log = RawLog(folder)
    for number, (messages, reply) in enumerate(requests):
        history: list[Message] = []
        for message in messages:
            content = json.dumps(message).encode()
            parent = history[-1].hash if history else None
            name = message_hash(parent, content)
            history.append(Message(hash=name, parent=parent, role=message.get("role", ""), content=content))
        answer = None
        if reply is not None:
            told = said("assistant", reply) if isinstance(reply, str) else reply
            content = json.dumps(told, separators=(",", ":")).encode()
            name = message_hash(history[-1].hash, content)
            answer = Message(hash=name, parent=history[-1].hash, role="assistant", content=content)
        made: ExchangeRecord = record(str(number), history, reply=answer, tip=history[-1].hash)
        log.append([made])
    return extract_history(log.path("tenant", "session 1"))


def test_a_conversation(tmp_path: Path, record: Any) -> None:
    """The user's words, the agent's, the tools it calls and whether they failed; what the system says is left out."""
    start = [said("system", "rules"), said("user", "go\n on")]
    calls = said("assistant", None, tool_calls=[call("1", "ls"), call("2", "cat")])
    results = [said("tool", "a b", tool_call_id="1"), said("tool", "error: no such file", tool_call_id="2")]
    assert lines(tmp_path, record, (start, "well"), ([*start, calls, *results], "done")) == [
        "[USER]: go on",
        "[Agent] ls() cat()",
        "[Tool] ls ok",
        "[Tool] cat err",
        "[Agent] done",
    ]


def test_a_reply_is_told_once(tmp_path: Path, record: Any) -> None:
    """The agent sends it back with its next request; one that it does not send back is told all the same."""
    one = said("user", "one")
    again = said("assistant", "first")
    assert lines(tmp_path, record, ([one], "first"), ([one, again, said("user", "two")], "second")) == [
        "[USER]: one",
        "[Agent] first",
        "[USER]: two",
        "[Agent] second",
    ]
    assert lines(tmp_path / "2", record, ([one], "first"), ([one, said("user", "two")], None)) == [
        "[USER]: one",
        "[Agent] first",
        "[USER]: two",
    ]


def test_an_answer_of_several_items_is_told_once(tmp_path: Path, record: Any) -> None:
    """An agent sends them back one by one, its thoughts first, which have no line."""
    one = said("user", "one")
    made = [
        {"type": "reasoning", "summary": []},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "first"}]},
        {"type": "function_call", "call_id": "c", "name": "ls", "arguments": "{}"},
    ]
    answer = {"type": "response", "id": "r", "role": "assistant", "output": made}
    result = {"type": "function_call_output", "call_id": "c", "output": "a b"}
    told = ["[USER]: one", "[Agent] first", "[Agent] ls()"]

    assert lines(tmp_path, record, ([one], answer)) == told
    assert lines(tmp_path / "2", record, ([one], answer), ([one, *made, result], "done")) == [
        *told,
        "[Tool] ls ok",
        "[Agent] done",
    ]


def test_repeats_stay_and_edits_say_what_is_new(tmp_path: Path, record: Any) -> None:
    """What a user says twice is there twice; after an edit of the history only what differs is told again."""
    yes, no, end = said("user", "yes"), said("user", "no"), said("user", "end")
    requests = [([yes, yes, end], None), ([yes, no, end], None), ([yes, yes, yes], None)]
    assert lines(tmp_path, record, *requests) == [
        "[USER]: yes",
        "[USER]: yes",
        "[USER]: end",
        "[USER]: no",
        "[USER]: yes",
    ]


@pytest.mark.parametrize(
    ("message", "speaker", "text", "failed"),
    [
        pytest.param({"role": "user", "content": [{"type": "text", "text": "a"}, "b"]}, "USER", "a\nb", False, id="parts"),
        pytest.param({"type": "function_call_output", "call_id": "1", "output": "fatal: x"}, "Tool", "fatal: x", True, id="result of a response item"),
        pytest.param({"type": "function_call", "call_id": "1", "name": "ls"}, "Agent", "", False, id="call as an item"),
        pytest.param({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "exit code: 2"}]}, "Tool", "exit code: 2", True, id="result in a user's message"),
        pytest.param({"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "ls"}]}, "Agent", "", False, id="call in parts"),
        pytest.param({"role": "developer", "content": "x"}, "System", "x", False, id="a developer"),
        pytest.param({"role": "tool", "content": "exit code: 0"}, "Tool", "exit code: 0", False, id="a success"),
    ],
)  # fmt: skip
def test_every_form(message: dict[str, Any], speaker: str, text: str, failed: bool) -> None:
    """Messages of all the forms that clients send."""
    (one,) = read_message(json.dumps(message).encode())
    assert (one.speaker, one.text, one.failed) == (speaker, text, failed)


@pytest.mark.parametrize("raw", [b"", b"[]", b"no json", b"{}", b'{"role":"user","content":7}', b'{"tool_calls":[7]}'])
def test_what_is_no_message_says_nothing(raw: bytes) -> None:
    """And is no error."""
    assert read_message(raw) == []


def test_blocks_of_a_response(tmp_path: Path) -> None:
    """A prompt in JSON and a response that was written as a Python list are read for their words."""
    path = tmp_path / "log.txt"
    body = '{"role": "user", "content": "hello"}'
    good = "[{'type': 'text', 'text': 'hi'}]"
    for response, text in ((good, "hi"), ("[{'type'", "[{'type'")):
        path.write_text(f"=== Prompt === {stamp(APRIL)}\n{body}\n\n=== Response === {stamp(APRIL)}\n{response}\n")
        assert extract_history(path) == ["[USER]: hello", f"[Agent] {text}"]


@given(st.lists(st.sampled_from("abc"), max_size=20), st.data())
def test_windows_over_distinct_lines_give_the_whole(repeats: list[str], data: st.DataObject) -> None:
    """Overlapping windows over a history, one after the other, are that history."""
    history = [f"{number} {line}" for number, line in enumerate(repeats)]
    merged: list[str] = []
    at = 0
    while at < len(history):
        end = data.draw(st.integers(at + 1, len(history)))
        start = data.draw(st.integers(max(0, at - 3), at))
        merged = merge(merged, history[start:end])
        at = end
    assert merged == history
