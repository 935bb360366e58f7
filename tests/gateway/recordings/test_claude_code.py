"""Session files of Claude Code, in all the ways in which their lines do not follow each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gateway.recordings import Session, read_sessions


class File:
    """Lines as Claude Code writes them."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any] | str] = []

    def add(self, uuid: str, parent: str | None, kind: str, message: dict[str, Any], **more: Any) -> None:
        """A line with a message."""
        row = {"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "isSidechain": False}
        self.rows.append({**row, "message": {"role": kind, **message}, **more})

    def ask(self, uuid: str, parent: str | None, text: str, **more: Any) -> None:
        """A prompt."""
        self.add(uuid, parent, "user", {"content": text}, **more)

    def say(self, uuid: str, parent: str, block: dict[str, Any], by: str, **more: Any) -> None:
        """One block of an answer."""
        self.add(uuid, parent, "assistant", {"id": by, "model": "claude-x", "content": [block]}, **more)

    def result(self, uuid: str, parent: str, call: str, text: str, **more: Any) -> None:
        """What a tool gave."""
        content = [{"type": "tool_result", "tool_use_id": call, "content": text}]
        self.add(uuid, parent, "user", {"content": content}, **more)

    def beside(self, uuid: str, parent: str | None, kind: str = "attachment", **more: Any) -> None:
        """A line that is no message."""
        self.rows.append({"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s", **more})

    def read(self, folder: Path) -> tuple[list[Session], list[str]]:
        """The sessions in it, and what was left out."""
        path = folder / "s.jsonl"
        path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in self.rows))
        left_out: list[str] = []
        return list(read_sessions(path, note=left_out.append)), [text.partition(": ")[2] for text in left_out]


def use(call: str, command: str = "ls") -> dict[str, Any]:
    """A call."""
    return {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}


def words(text: str) -> dict[str, Any]:
    """Text as a block."""
    return {"type": "text", "text": text}


def told(session: Session) -> list[str]:
    """Roles and texts, in short."""
    out = []
    for message in session.messages:
        blocks = message["content"]
        parts = [blocks] if isinstance(blocks, str) else [b.get("text") or b.get("content") or b["id"] for b in blocks]
        out.append(f"{message['role']}: {' | '.join(parts)}")
    return out


def test_an_answer_of_several_lines_is_one_message(tmp_path: Path) -> None:
    """Its blocks have a line each; calls that run side by side have their results in one message, whoever is whose parent."""
    file = File()
    file.rows.append({"type": "queue-operation", "sessionId": "s"})
    file.ask("u1", None, "do it")
    file.say("a1", "u1", {"type": "thinking", "text": "hm", "signature": "x"}, "m1")
    file.say("a2", "a1", use("c1"), "m1")
    file.say("a3", "a2", use("c2"), "m1")
    file.result("r1", "a2", "c1", "one")
    file.result("r2", "a3", "c2", "two")
    file.say("a4", "r1", words("done"), "m2")
    (session,), left_out = file.read(tmp_path)

    assert told(session) == ["user: do it", "assistant: hm | c1 | c2", "user: one | two", "assistant: done"]
    assert (session.turns, session.model, session.agent, session.name) == ([1, 3], "claude-x", "Claude Code", "s")
    assert left_out == []


def test_a_prompt_that_was_written_anew_begins_another_session(tmp_path: Path) -> None:
    """Its earlier turns count once; an interrupted turn, and a prompt behind a result, do not look like that."""
    file = File()
    file.ask("u1", None, "do it")
    file.say("a1", "u1", use("c1"), "m1")
    file.result("r1", "a1", "c1", "one")
    file.ask("u2", "r1", "and quickly")
    file.say("a2", "u2", words("done"), "m2")
    file.ask("u3", "a1", "no, stop")
    file.say("a3", "u3", words("stopped"), "m3")
    first, second = file.read(tmp_path)[0]

    assert told(first) == ["user: do it", "assistant: c1", "user: one | and quickly", "assistant: done"]
    assert told(second) == ["user: do it", "assistant: c1", "user: no, stop", "assistant: stopped"]
    assert (first.turns, second.turns) == ([1, 3], [1, 3])
    assert second.name == "s#2"


def test_a_prompt_is_written_anew_behind_whatever_line(tmp_path: Path) -> None:
    """Behind a line that is no message, and where nothing was before it; an answer to nobody's question is none of the model's."""
    file = File()
    file.ask("u1", None, "do it")
    file.say("a1", "u1", words("done"), "m1")
    file.beside("t1", "a1", "system", subtype="turn_duration")
    file.ask("u2", "t1", "more")
    file.say("a2", "u2", words("yes"), "m2")
    file.ask("u3", "t1", "less")
    file.say("a3", "u3", words("no"), "m3")
    file.ask("u4", None, "do that")
    file.say("a4", "u4", words("well"), "m4")

    assert [told(session)[-3:] for session in file.read(tmp_path)[0]] == [
        ["assistant: done", "user: more", "assistant: yes"],
        ["assistant: done", "user: less", "assistant: no"],
        ["user: do that", "assistant: well"],
    ]


def test_results_stand_between_the_blocks_of_an_answer(tmp_path: Path) -> None:
    """A call is run as soon as it is whole; what was sent is the whole answer, then its results. A block may stand there twice."""
    file = File()
    file.ask("u1", None, "do it")
    file.say("a1", "u1", use("c1"), "m1")
    file.result("r1", "a1", "c1", "one")
    file.say("a2", "a1", use("c2"), "m1")
    file.say("a3", "a1", use("c2"), "m1")
    file.result("r2", "a2", "c2", "two")
    file.say("a4", "r2", words("done"), "m2", timestamp="2026-11-30T12:00:00.500Z")
    (session,), _ = file.read(tmp_path)

    assert told(session) == ["user: do it", "assistant: c1 | c2", "user: one | two", "assistant: done"]
    assert (session.turns, session.times) == ([1, 3], {3: 1796040000.5})


def test_a_result_that_was_not_sent_as_it_was_written_down(tmp_path: Path) -> None:
    """The line that says so comes later."""
    file = File()
    file.ask("u1", None, "do it")
    file.say("a1", "u1", use("c1"), "m1")
    file.result("r1", "a1", "c1", "much")
    put = [{"kind": "tool-result", "toolUseId": "c1", "replacement": "little"}, {"toolUseId": "c1"}]
    file.beside("b", "r1", "content-replacement", replacements=put)
    file.say("a2", "r1", words("done"), "m2")
    (session,), left_out = file.read(tmp_path)

    assert told(session) == ["user: do it", "assistant: c1", "user: little", "assistant: done"]
    assert left_out == []


def test_compaction_begins_another_session(tmp_path: Path) -> None:
    """With the summary, and what was kept from before it, which answered no further request; sub-agents compact, too."""
    file = File()
    file.ask("u1", None, "do it")
    file.say("a1", "u1", words("done"), "m1")
    file.ask("x1", None, "look", isSidechain=True)
    file.say("x2", "x1", words("seen"), "n1", isSidechain=True)
    file.beside("xb", None, "system", subtype="compact_boundary", isSidechain=True)
    file.ask("x3", "xb", "so far: seen", isSidechain=True)
    file.ask("u2", "a1", "more")
    file.say("a2", "u2", words("all"), "m2")
    kept = {"anchorUuid": "u3", "uuids": ["u2", "a2", "lost"]}
    file.beside("b", None, "system", subtype="compact_boundary", compactMetadata={"preservedMessages": kept})
    file.ask("u3", "b", "so far: done", isCompactSummary=True)
    file.ask("u4", "u3", "and now?")
    file.say("a4", "u4", words("good"), "m4")
    file.ask("u5", "b", "no")
    file.say("a5", "u5", words("fine"), "m5")
    sessions, left_out = file.read(tmp_path)

    assert [(told(session), list(session.turns)) for session in sessions] == [
        (["user: do it", "assistant: done", "user: more", "assistant: all"], [1, 3]),
        (["user: look", "assistant: seen"], [1]),
        (["user: so far: seen"], []),
        (["user: so far: done | more", "assistant: all", "user: and now?", "assistant: good"], [3]),
        (["user: no", "assistant: fine"], [1]),
    ]
    assert left_out == []


def test_sub_agents_have_sessions_of_their_own(tmp_path: Path) -> None:
    """Their lines stand between those of the main one, and not only messages have children."""
    file = File()
    file.ask("u1", None, "do it")
    file.say("a1", "u1", use("c1"), "m1")
    file.ask("x1", None, "look", isSidechain=True)
    file.ask("y1", None, "search", isSidechain=True)
    file.beside("x0", "x1", isSidechain=True)
    file.say("x2", "x0", use("d1"), "n1", isSidechain=True)
    file.result("x3", "x2", "d1", "deep", isSidechain=True)
    file.say("y2", "y1", words("found"), "o1", isSidechain=True)
    file.say("x4", "x3", words("seen"), "n2", isSidechain=True)
    file.result("r1", "a1", "c1", "they say")
    file.say("a2", "r1", words("done"), "m2")

    assert [told(session) for session in file.read(tmp_path)[0]] == [
        ["user: do it", "assistant: c1", "user: they say", "assistant: done"],
        ["user: look", "assistant: d1", "user: deep", "assistant: seen"],
        ["user: search", "assistant: found"],
    ]


def test_what_is_not_understood_is_counted(tmp_path: Path) -> None:
    """A file that is being written has half a line at its end; what is no message is no loss."""
    file = File()
    file.rows += [
        {"type": "file-history-snapshot", "messageId": "u1", "snapshot": {}},
        {"type": "summary", "leafUuid": "x"},
    ]
    file.ask("u1", None, "do it")
    file.rows += [{"type": "mood"}, {"type": "mood"}, {"type": "user", "message": 3}, {"type": "user", "message": {}}]
    error = {"id": "e", "model": "<synthetic>", "content": [words("API Error")]}
    file.add("e1", "u1", "assistant", error, isApiErrorMessage=True)
    file.add("e2", "e1", "assistant", {"id": "f", "model": "<synthetic>", "content": [words("No response")]})
    file.ask("u2", "e2", "go on")
    file.say("a1", "u2", words("done"), "m1")
    file.rows.append('{"type": "assistant", "mess')
    (session,), left_out = file.read(tmp_path)

    assert told(session) == ["user: do it", "assistant: No response", "user: go on", "assistant: done"]
    assert (session.turns, session.model) == ([3], "claude-x")
    assert left_out == [
        "2 lines of type 'mood', which is not known",
        "2 lines of type 'user', without a message",
        "1 line without a JSON object",
    ]
