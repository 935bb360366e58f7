"""Recordings in chat messages: the forms that are read, and what is said of the others."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from gateway.recordings import RecordingError, read_sessions

ASKED = {"role": "user", "content": "q"}
ANSWERED = {"role": "assistant", "content": "a"}


def lines(*rows: object) -> str:
    """Rows as JSON lines."""
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("{\n", "line 1: not JSON", id="broken JSON"),
        pytest.param('{"messages": "\udcff"}', "line 1: not JSON", id="another encoding"),
        pytest.param(lines(ASKED) + "3\n", "line 2: must be an object", id="a number"),
        pytest.param(lines(ASKED, {"messages": []}), "line 2: has no role", id="a session among messages"),
        pytest.param(lines({"messages": "x"}), "line 1: lacks 'messages'", id="messages that are no list"),
        pytest.param(lines({}, {"messages": []}), "line 1: lacks 'messages'", id="no messages"),
        pytest.param(
            lines({"messages": [{"content": "x"}]}), "line 1: lacks 'messages'", id="a message without a role"
        ),
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str, said: str) -> None:
    """The error names the file, the line, and what should stand there."""
    path = tmp_path / "x.jsonl"
    path.write_text(text, errors="surrogateescape")
    with pytest.raises(RecordingError, match=f"{path}, {said}"):
        list(read_sessions(path))


def test_an_empty_file_holds_no_session(tmp_path: Path) -> None:
    """Nothing recorded is no error."""
    (tmp_path / "x.jsonl").write_text("\n")
    assert list(read_sessions(tmp_path / "x.jsonl")) == []


def test_one_message_a_line(tmp_path: Path) -> None:
    """The whole file is one session."""
    (tmp_path / "x.jsonl").write_text(lines(ASKED, ANSWERED, ASKED, ANSWERED))
    (session,) = read_sessions(tmp_path / "x.jsonl")
    assert (session.name, session.model, session.tools) == ("x.jsonl:1", None, ())
    assert session.turns == [1, 3]


def test_one_session_a_line_in_gzip(tmp_path: Path) -> None:
    """Names, models and tools come with the sessions that have them."""
    rows = [{"messages": [ANSWERED, ASKED]}, {"id": "s", "model": "m", "tools": [1], "messages": [ASKED, ANSWERED]}]
    (tmp_path / "x.jsonl.gz").write_bytes(gzip.compress(lines(*rows).encode()))
    first, second = read_sessions(tmp_path / "x.jsonl.gz")
    assert (first.name, first.turns) == ("x.jsonl.gz:1", [])
    assert (second.name, second.model, second.tools, second.turns) == ("s", "m", [1], [1])


def test_sessions_come_as_they_are_read(tmp_path: Path) -> None:
    """What stands behind a session is not read before it is asked for, and how far the reading is is told."""
    (tmp_path / "x.jsonl").write_text(lines({"messages": []}) * 20_000 + "{")
    heard: list[int] = []
    sessions = read_sessions(tmp_path / "x.jsonl", heard.append)
    assert next(sessions).messages == []
    assert heard
    assert heard[-1] < 100_000
    with pytest.raises(RecordingError, match="line 20001: not JSON"):
        list(sessions)
    assert heard[-1] == (tmp_path / "x.jsonl").stat().st_size
