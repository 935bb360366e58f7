"""Files and folders of recordings."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.recordings import claude_code, codex, files_in, read_sessions
from gateway.recordings.session import Form

VALUES = st.recursive(
    st.sampled_from(["user", "assistant", "message", "compacted", "response_item", "system", "u", "", 3, True, None]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(st.sampled_from(["type", "role", "id"]), inner)
    ),
    max_leaves=4,
)
KEYS = (
    "type", "role", "message", "content", "uuid", "parentUuid", "isSidechain", "compactMetadata", "replacements", "payload",
    "replacement_history", "base_instructions", "history_base", "subtype", "timestamp", "num_turns",
)  # fmt: skip
LINES = st.recursive(
    st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=5),
    lambda inner: st.dictionaries(st.sampled_from(KEYS), st.one_of(VALUES, inner), max_size=5),
    max_leaves=3,
)


def test_folders_are_searched_and_files_are_taken_as_they_are(tmp_path: Path) -> None:
    """Oldest first, by their endings, at any depth, and only what was written to since then."""
    for age, name in enumerate(["c.jsonl", "deep/b.jsonl.gz", "deep/er/a.jsonl.zst", "deep/x.txt", "old.jsonl"]):
        file = tmp_path / "folder" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
        os.utime(file, (5000 - 1000 * age, 5000 - 1000 * age))
    missing = tmp_path / "missing.jsonl"
    found = list(files_in([tmp_path / "folder", missing], since=2000))

    assert [(path.name, named) for path, named in found] == [
        ("a.jsonl.zst", False),
        ("b.jsonl.gz", False),
        ("c.jsonl", False),
        ("missing.jsonl", True),
    ]


def test_a_file_with_nothing_in_it(tmp_path: Path) -> None:
    """Holds no sessions."""
    path = tmp_path / "x.jsonl"
    path.write_text("\n \n")

    assert list(read_sessions(path)) == []


def test_a_chat_session_of_several_turns(tmp_path: Path) -> None:
    """Each answer is a turn of its own."""
    path = tmp_path / "x.jsonl"
    said = [{"role": role, "content": "x"} for role in ("user", "assistant", "user", "assistant", "assistant")]
    path.write_text(json.dumps({"messages": said}) + "\n")
    (session,) = read_sessions(path)

    assert session.turns == [1, 3, 4]
    assert [len(session.turn(at)) for at in session.turns] == [1, 1, 1]


def test_a_file_says_what_it_is_in_one_of_its_first_lines(tmp_path: Path) -> None:
    """Agents begin with other lines, too, and those who tell when a chat was had are not yet Codex."""
    asked = {"type": "user", "uuid": "1", "parentUuid": None, "message": {"role": "user", "content": "x"}}
    said = {"type": "assistant", "uuid": "2", "parentUuid": "1", "message": {"id": "m", "content": "y"}}
    chat = {"id": "a", "timestamp": "2026-11-30T12:00:00Z", "messages": [{"role": "user", "content": "x"}]}
    files: dict[str, list[object]] = {"claude": [{"type": "file-history-snapshot"}, 3, asked, said], "chat": [chat]}
    agents = {}
    for name, rows in files.items():
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        agents[name] = [session.agent for session in read_sessions(path)]

    assert agents == {"claude": ["Claude Code"], "chat": [""]}


def test_what_was_read_before_a_file_broke_counts(tmp_path: Path) -> None:
    """Of an agent's file, which may have been packed badly."""
    meta = {"type": "session_meta", "payload": {"id": "1"}}
    rows = [meta] + [
        {"type": "response_item", "payload": {"type": "message", "role": role, "content": "x"}}
        for role in ("user", "assistant") * 2000
    ]
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode())[:-9])
    left_out: list[str] = []
    (session,) = read_sessions(path, note=left_out.append)

    assert session.turns
    assert left_out == [f"{path}: 1 line behind which nothing can be read"]


@pytest.mark.parametrize("form", [claude_code, codex], ids=["Claude Code", "Codex"])
@given(rows=st.lists(LINES, max_size=8))
def test_no_line_is_fatal(form: Form, rows: list[dict[str, Any]]) -> None:
    """Whatever agents will write down in years to come: what is left of it can be replayed."""
    left_out: list[str] = []
    lines = ((number, json.dumps(row).encode()) for number, row in enumerate(rows, 1))
    for session in form.read(lines, Path("x.jsonl"), left_out.append):
        assert all(session.turn(at) for at in session.turns)
