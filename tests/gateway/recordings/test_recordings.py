"""Files and folders of recordings."""

from __future__ import annotations

import json
import os
from pathlib import Path

from gateway.recordings import files_in, read_sessions


def test_folders_are_searched_and_files_are_taken_as_they_are(tmp_path: Path) -> None:
    """Oldest first, by their endings, at any depth, and only what was written to since then."""
    for age, name in enumerate(["c.jsonl", "deep/b.jsonl.gz", "deep/er/a.jsonl", "deep/x.txt", "old.jsonl"]):
        file = tmp_path / "folder" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
        os.utime(file, (5000 - 1000 * age, 5000 - 1000 * age))
    missing = tmp_path / "missing.jsonl"
    found = list(files_in([tmp_path / "folder", missing], since=2000))

    assert [(path.name, named) for path, named in found] == [
        ("a.jsonl", False),
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
