"""Rollout files of Codex."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.recordings import Session, read_sessions

META = {"type": "session_meta", "payload": {"id": "1", "cwd": "/w"}}
CONTEXT = {"type": "turn_context", "payload": {"model": "gpt-x"}}


def item(**payload: Any) -> dict[str, Any]:
    """A line with an item."""
    return {"timestamp": "2026-11-30T12:00:00Z", "type": "response_item", "payload": payload}


def ask(text: str) -> dict[str, Any]:
    """A prompt."""
    return item(type="message", role="user", content=[{"type": "input_text", "text": text}])


def say(text: str) -> dict[str, Any]:
    """Words of the model."""
    return item(type="message", role="assistant", content=[{"type": "output_text", "text": text}])


def call(name: str) -> dict[str, Any]:
    """A call."""
    return item(type="function_call", call_id=name, name="exec_command", arguments='{"cmd": "ls"}')


def result(name: str, text: str) -> dict[str, Any]:
    """What it printed."""
    return item(type="function_call_output", call_id=name, output=text)


def read(folder: Path, *rows: dict[str, Any] | str) -> tuple[list[Session], list[str]]:
    """The sessions of a file with these lines, and what was left out."""
    path = folder / "rollout-1.jsonl"
    path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in rows))
    left_out: list[str] = []
    return list(read_sessions(path, note=left_out.append)), [text.partition(": ")[2] for text in left_out]


def told(session: Session) -> list[str]:
    """Each item in short."""
    return [
        str(i.get("output") or i.get("call_id") or " ".join(part["text"] for part in i.get("content", ())))
        for i in session.messages
    ]


def test_items_of_one_answer_are_one_turn(tmp_path: Path) -> None:
    """Thoughts, words and calls up to the next result."""
    thought = item(type="reasoning", summary=[], encrypted_content="x")
    rows = [ask("do it"), thought, say("look"), call("c1"), call("c2"), result("c1", "one"), result("c2", "two")]
    (session,), left_out = read(tmp_path, META, CONTEXT, *rows, say("done"))

    assert session.turns == [1, 7]
    assert [i["type"] for i in session.turn(1)] == ["reasoning", "message", "function_call", "function_call"]
    assert (session.model, session.agent, session.name) == ("gpt-x", "Codex", "rollout-1")
    assert left_out == []


@pytest.mark.parametrize(
    ("payload", "begins", "again"),
    [
        ({"message": "so far: done"}, ["do it", "so far: done"], ["do it", "more", "so far: done"]),
        (
            {"message": "", "replacement_history": [ask("kept")["payload"], say("as well")["payload"]]},
            ["kept", "as well"],
            ["kept", "as well"],
        ),
    ],
    ids=["a summary", "a history"],
)
def test_compaction_begins_another_session(
    tmp_path: Path, payload: dict[str, Any], begins: list[str], again: list[str]
) -> None:
    """With what takes the place of the history: what was asked and the last summary, or what it says itself."""
    compacted = {"type": "compacted", "payload": payload}
    rows = [ask("do it"), say("done"), compacted, ask("more"), say("yes"), compacted, say("well")]
    first, second, third = read(tmp_path, META, *rows)[0]

    assert told(first) == ["do it", "done"]
    assert told(second) == [*begins, "more", "yes"]
    assert told(third) == [*again, "well"]
    assert second.name == "rollout-1#2"


def test_a_return_to_an_earlier_turn(tmp_path: Path) -> None:
    """Another history goes on from there, and what the agent said in the user's name is no turn."""
    back = {"type": "event_msg", "payload": {"type": "thread_rolled_back", "num_turns": 1}}
    place = ask("<environment_context>elsewhere</environment_context>")
    rows = [ask("one"), say("1"), ask("two"), place, say("2"), back, ask("three"), say("3")]
    first, second = read(tmp_path, META, *rows)[0]

    assert told(second) == ["one", "1", "three", "3"]
    assert (first.turns, second.turns) == ([1, 4], [1, 3])


def test_more_turns_than_there_were(tmp_path: Path) -> None:
    """Returns to the beginning; none is no return."""
    back = [{"type": "event_msg", "payload": {"type": "thread_rolled_back", "num_turns": count}} for count in (0, 9)]
    sessions, _ = read(tmp_path, META, ask("one"), say("1"), back[0], ask("two"), say("2"), back[1], ask("x"), say("y"))

    assert [told(session) for session in sessions] == [["one", "1"], ["one", "1", "two", "2"], ["x", "y"]]


@pytest.mark.parametrize("said", [False, True], ids=["beside the history", "in the history, too"])
def test_the_system_prompt_is_sent_once(tmp_path: Path, said: bool) -> None:
    """It stands in the first line, and of some models in the history."""
    meta = {"type": "session_meta", "payload": {"id": "1", "base_instructions": {"text": "You code."}}}
    own = item(type="message", role="developer", content=[{"type": "input_text", "text": "You code."}])
    done = {**say("done"), "timestamp": "2026-11-30T13:00:00+01:00"}
    (session,), _ = read(tmp_path, meta, *([own] if said else []), ask("do it"), done)

    assert told(session) == ["You code.", "do it", "done"]
    assert (session.turns, session.times) == ([2], {2: 1796040000.0})


def test_two_answers_with_nothing_between_them(tmp_path: Path) -> None:
    """Before a compaction the model is asked for a summary; where an answer is whole is told."""
    end = {"type": "token_usage_record", "payload": {}}
    (session,), _ = read(
        tmp_path, META, ask("do it"), say("look"), call("c1"), result("c1", "x"), say("done"), end, say("so far")
    )

    assert session.turns == [1, 4, 5]
    assert [len(session.turn(at)) for at in session.turns] == [2, 1, 1]


@pytest.mark.parametrize("day", ["01", "02"], ids=["of that day", "of another day"])
def test_a_branch_refers_to_the_file_that_it_goes_on_from(tmp_path: Path, day: str) -> None:
    """What was said there up to that place is its history, and no turn of its own."""
    first, second = tmp_path / "2026/11/01", tmp_path / f"2026/11/{day}"
    first.mkdir(parents=True)
    second.mkdir(exist_ok=True)
    rows = [META, CONTEXT, ask("do it"), say("done"), ask("more"), say("all")]
    numbered = [{**row, "ordinal": at} for at, row in enumerate(rows)]
    (first / "rollout-2026-11-01T00-00-00-t1.jsonl").write_text("".join(json.dumps(row) + "\n" for row in numbered))
    base = {
        "type": "session_meta",
        "payload": {"id": "2", "history_base": {"thread_id": "t1", "end_ordinal_exclusive": 4}},
    }
    (session,), left_out = read(second, base, ask("less"), say("some"))

    assert told(session) == ["do it", "done", "less", "some"]
    assert (session.turns, session.model, left_out) == ([3], "gpt-x", [])


def test_a_branch_that_copied_what_it_goes_on_from(tmp_path: Path) -> None:
    """It says so by the first line of the other file, and all of it was written at once; a session that is taken up again
    says who it is once more, and has not copied anything."""
    own = {"timestamp": "2026-11-30T12:00:00Z", "type": "session_meta", "payload": {"id": "2"}}
    rows = [ask("do it"), say("done"), ask("less"), {**say("some"), "timestamp": "2026-11-30T12:00:01Z"}]
    (branch,), _ = read(tmp_path, own, META, *rows)
    (session,), _ = read(tmp_path, own, own, *rows)

    assert told(branch) == told(session) == ["do it", "done", "less", "some"]
    assert (branch.turns, session.turns) == ([3], [1, 3])


def test_a_branch_of_a_file_that_is_gone(tmp_path: Path) -> None:
    """What it says itself counts, and that something is missing is told."""
    base = {"type": "session_meta", "payload": {"id": "2", "history_base": {"thread_id": "t1"}}}
    (session,), left_out = read(tmp_path, base, ask("less"), say("some"))

    assert told(session) == ["less", "some"]
    assert left_out == ["1 line that refers to an earlier file, which is not there"]


def test_the_first_files_of_this_form(tmp_path: Path) -> None:
    """Had no envelopes."""
    about = {"id": "1", "timestamp": "2026-01-01T00:00:00Z", "instructions": None}
    rows = [
        about,
        ask("do it")["payload"],
        {"record_type": "state"},
        call("c1")["payload"],
        result("c1", "one")["payload"],
    ]
    (session,), left_out = read(tmp_path, *rows)

    assert told(session) == ["do it", "c1", "one"]
    assert left_out == []


def test_what_is_not_understood_is_counted(tmp_path: Path) -> None:
    """And what is not sent is left out."""
    odd = {"type": "mood", "payload": {}}
    rows = [
        META,
        ask("do it"),
        odd,
        item(type="ghost_snapshot", id="g"),
        {"type": "event_msg", "payload": {}},
        say("done"),
    ]
    (session,), left_out = read(tmp_path, *rows, "[1]", '{"type": "resp')

    assert told(session) == ["do it", "done"]
    assert left_out == ["1 line of type 'mood', which is not known", "2 lines without a JSON object"]
