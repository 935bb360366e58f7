"""Sessions as JSON lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memory import StoreError, export
from memory.L4_raw_sessions.export import FORMATS
from tests.memory.L4_raw_sessions.talks import Talks


@pytest.fixture
def talks(tmp_path: Path) -> Talks:
    """One session that was archived and goes on, a live one."""
    talks = Talks(tmp_path / "data")
    talks.say("a", "one", answer="数据")
    talks.archive()
    talks.say("a", "three", answer=None)
    talks.say("b", "else")
    return talks


@pytest.mark.parametrize("form", FORMATS)
def test_nothing_stored(tmp_path: Path, form: str) -> None:
    """No line."""
    assert list(export(form, l4_dir=tmp_path / "none")) == []  # type: ignore[arg-type]


def test_lines_with_all_that_is_known(talks: Talks) -> None:
    """One a session, its parts together, the oldest first."""
    first, second = map(json.loads, export(l4_dir=talks.l4))
    assert {name: value for name, value in first.items() if name != "messages"} == {
        "session": "a",
        "names": ["2026-05/0501_0147-0501_0147"],
        "live": True,
        "model": "small",
        "started": "2026-05-01T01:47:40+00:00",
        "ended": "2026-05-02T01:48:40+00:00",
    }
    assert [message["content"] for message in first["messages"]] == ["one", "数据", "three"]
    assert (second["session"], second["names"]) == ("b", [])


def test_messages_alone(talks: Talks) -> None:
    """As OpenAI takes them, letters as they are."""
    line, _ = export("openai", l4_dir=talks.l4)
    assert "数据" in line
    assert list(json.loads(line)) == ["messages"]
    assert json.loads(line)["messages"][0] == {"role": "user", "content": "one"}


def test_one_session(talks: Talks) -> None:
    """An unknown one is an error, not an empty file."""
    (line,) = export(session="b", l4_dir=talks.l4)
    assert json.loads(line)["session"] == "b"
    with pytest.raises(StoreError, match="memory search"):
        list(export(session="absent", l4_dir=talks.l4))
