"""Learning: recorded conversations as turns and samples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.cache import BoundedCache
from gateway.evolving.learning import read_samples, read_turns, turns
from gateway.identity import Observer, chain
from gateway.recordings import Copies, RecordingError, Session
from gateway.shapes import chat_completions


def asks(command: str, number: int = 0) -> dict[str, Any]:
    """A turn that calls the shell."""
    function = {"name": "bash", "arguments": json.dumps({"command": command})}
    return {"role": "assistant", "content": "so", "tool_calls": [{"id": f"c{number}", "function": function}]}


def gives(text: str, number: int = 0) -> dict[str, Any]:
    """The result of that call."""
    return {"role": "tool", "tool_call_id": f"c{number}", "content": text}


def says(text: str, role: str = "user") -> dict[str, Any]:
    """Words."""
    return {"role": role, "content": text}


def read(*messages: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """The turns that say or see something."""
    turns = read_turns(Session("s", None, messages, ()))
    return [(t.said, [r.observation.text for r in t.results]) for t in turns if t.said or t.results]


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        pytest.param([says("do it")], [("do it", [])], id="a task alone"),
        pytest.param(
            [says("be good", "system"), says("do it"), asks("ls"), gives("a\nb")],
            [("be good", []), ("do it", []), ("so\nls", ["a\nb"])],
            id="a result belongs to the turn that asked",
        ),
        pytest.param(
            [says("do it"), asks("ls"), gives("a"), says("stop"), says("Done.", "assistant")],
            [("do it", []), ("so\nls", ["a"]), ("stop", []), ("Done.", [])],
            id="what a person says in between is nobody's result",
        ),
        pytest.param(
            [
                says("do it"),
                {"type": "message", **says("so", "assistant")},
                {"type": "function_call", "call_id": "c", "name": "bash", "arguments": '{"command":"ls"}'},
                {"type": "function_call", "call_id": "d", "name": "bash", "arguments": '{"command":"pwd"}'},
                {"type": "function_call_output", "call_id": "c", "output": "a"},
                {"type": "function_call_output", "call_id": "d", "output": "/"},
                {"type": "message", **says("Done.", "assistant")},
            ],
            [("do it", []), ("so\nls\npwd", ["a", "/"]), ("Done.", [])],
            id="items that an agent says one after the other are one turn",
        ),
        pytest.param(
            [says("do it"), says("ls", "assistant"), says("<returncode>0</returncode>\n<output>\na\n</output>")],
            [("do it", []), ("ls", ["a\n"])],
            id="a terminal in a user message is a result",
        ),
    ],
)
def test_turns(messages: list[dict[str, Any]], expected: list[tuple[str, list[str]]]) -> None:
    """Whoever says something opens a turn; results are found as the walk finds them."""
    assert read(*messages) == expected


def test_the_command_is_known() -> None:
    """Observations of recordings carry what the gateway's own do."""
    turns = read_turns(Session("s", None, [says("do it"), asks("ls -l"), gives("a")], ()))
    (result,) = turns[-1].results
    assert (result.observation.command, result.observation.tool, result.decision) == ("ls -l", "bash", None)


def refuse(reason: str) -> None:
    """Nothing is refused."""
    pytest.fail(reason)


def test_samples_of_a_file(tmp_path: Path) -> None:
    """Each result is a sample, named after its session and its file."""
    used = {"id": "one", "messages": [says("do it"), asks("ls"), gives("a/one.py\na/two.py"), asks("cat a/two.py", 1)]}
    rows = [used, {"messages": []}, {"messages": [says("hello")]}]
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (sample,) = read_samples(tmp_path / "x.jsonl", refuse)
    assert sample.used == {"a/two.py"}
    assert (sample.session, sample.source) == ("one", "x")


def test_what_was_copied_is_learned_once(tmp_path: Path) -> None:
    """A branch adds what came of its own turns, a copy of a whole session nothing."""

    def item(kind: str, **said: Any) -> dict[str, Any]:
        return {"type": "response_item", "payload": {"type": kind, **said}}

    def ran(call: str, text: str) -> list[dict[str, Any]]:
        asked = item("function_call", call_id=call, name="shell", arguments='{"command": "ls"}')
        return [asked, item("function_call_output", call_id=call, output=text)]

    meta = {"type": "session_meta", "payload": {"id": "1"}}
    begun = [meta, item("message", role="user", content="do it"), *ran("c1", "a/one.py")]
    files = {
        "a": [*begun, item("message", role="assistant", content="a/one.py")],
        "b": [*begun, item("message", role="assistant", content="so"), *ran("c2", "a/two.py")],
        "c": [*begun, item("message", role="assistant", content="a/one.py")],
    }
    copies, found = Copies(), []
    for name, rows in files.items():
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        found += [(one.source, one.observation.text) for one in read_samples(path, refuse, copies=copies)]

    assert found == [("a", "a/one.py"), ("b", "a/two.py")]


def test_what_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    """A session without roles costs itself, a broken line the rest of its file; both are told."""
    good = json.dumps({"messages": [says("do it"), asks("ls"), gives("a")]})
    bad = json.dumps({"id": "bad", "messages": [{"role": 3}]})
    (tmp_path / "x.jsonl").write_text("\n".join([good, bad, good, "{", good]))
    reasons: list[str] = []
    assert len(list(read_samples(tmp_path / "x.jsonl", reasons.append))) == 2
    assert [reason.split(": ", 1)[0] for reason in reasons] == ["bad", f"{tmp_path}/x.jsonl, line 4"]


def test_a_message_that_cannot_be_read() -> None:
    """The error names the session."""
    with pytest.raises(RecordingError, match=r"s: .*role"):
        read_turns(Session("s", None, [{"role": 3}], ()))


def test_a_terminal_is_no_words_whatever_json_it_comes_in() -> None:
    """A result that was found in another form of its message is not taken for what somebody says."""
    observer = Observer()

    def said_in(more: dict[str, Any]) -> list[str]:
        terminal = says("<returncode>0</returncode>\n<output>\na\n</output>") | more
        body = json.dumps({"model": "m", "messages": [says("do it"), says("ls", "assistant"), terminal]}).encode()
        found = chat_completions.read(body, BoundedCache(1 << 20))
        return [turn.said for turn in turns(found, observer.observe(found, "", chain(found, ""))) if turn.said]

    assert said_in({}) == said_in({"x": 1}) == ["do it", "ls"]
