"""Messages of logs: ours by their JSON, those of others by their text; damaged members are named."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import BinaryIO

import pytest

from memory import StoreError
from memory.L4_raw_sessions.lines import opened, read_lines
from memory.L4_raw_sessions.places import Places
from memory.L4_raw_sessions.sections import put
from tests.memory.L4_raw_sessions.archives import APRIL, free


def read(tmp_path: Path, data: bytes) -> list[tuple[int, str | None, str, str]]:
    """Number, name, role and words of each message."""
    path = tmp_path / "log.txt"
    path.write_bytes(data)
    with path.open("rb") as file:
        return [(line.ordinal, line.name, line.role, line.text) for line in read_lines(file)]


def test_an_empty_log_says_nothing(tmp_path: Path) -> None:
    """No message, no error."""
    assert read(tmp_path, b"") == []


def test_ours_are_read_by_their_json(tmp_path: Path) -> None:
    """In order, each with its name; an exchange without an answer has none."""
    prompt = {
        "session": "s",
        "base": None,
        "names": ["b2:1"],
        "head_name": "",
        "messages": [{"role": "user", "content": "hi"}],
    }
    answer = {"name": "b2:2", "message": {"role": "assistant", "content": "ho\n=== USER ===\n"}}
    data = put("Prompt", APRIL, json.dumps(prompt).encode(), at="1.0", id="1", session="s")
    data += put("Response", APRIL, json.dumps(answer).encode(), model="m")
    data += put(
        "Prompt", APRIL, json.dumps(prompt | {"messages": [], "names": []}).encode(), at="2.0", id="2", session="s"
    )
    data += put("Response", APRIL, b'{"message":null}', model="m")
    assert read(tmp_path, data) == [(0, "b2:1", "user", "hi"), (1, "b2:2", "assistant", "ho\n=== USER ===\n")]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(
            free("what now", "this"),
            [("system", "You are an agent."), ("user", "what now"), ("assistant", "this")],
            id="free text has a system, a user and an answer",
        ),
        pytest.param(
            b"=== Prompt === 2026-04-03 20:13:13\nalone\n\n=== Response === 2026-04-03 20:13:14\nwell\n",
            [("user", "alone"), ("assistant", "well")],
            id="a prompt without sections is the user's",
        ),
        pytest.param(
            b'=== Prompt === 2026-04-03 20:13:13\n{"role":"user","content":"as JSON"}\n\n'
            b"=== Response === 2026-04-03 20:13:14\n[{'type': 'text', 'text': 'a block'}]\n",
            [("user", "as JSON"), ("assistant", "a block")],
            id="a list of blocks as another language writes it",
        ),
        pytest.param(
            b"=== Response === 2026-04-03 20:13:14\n[not a list\n", [("assistant", "[not a list")], id="no list at all"
        ),
        pytest.param(b"no marker at all \xff\n", [("user", "no marker at all �")], id="bytes without a marker"),
    ],
)
def test_logs_of_others_are_read_by_their_text(tmp_path: Path, data: bytes, expected: list[tuple[str, str]]) -> None:
    """Nothing is left out because nobody knows what it is."""
    assert [(role, text) for _, _, role, text in read(tmp_path, data)] == expected


@pytest.mark.parametrize("trouble", ["no zip", "no member", "damaged"])
def test_a_member_that_cannot_be_read_is_named(tmp_path: Path, trouble: str) -> None:
    """With its zip and what to do."""
    path = tmp_path / "2026-04.zip"
    if trouble != "no zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a.txt" if trouble == "damaged" else "b.txt", b"text" * 100)
    if trouble == "damaged":
        path.write_bytes(path.read_bytes().replace(b"texttext", b"textTEXT"))
    with (
        pytest.raises(StoreError, match=r"a\.txt cannot be read.*memory verify"),
        opened(Places(tmp_path), path.name, "a.txt"),
    ):
        pass


def test_what_goes_wrong_with_a_member_in_hand_is_not_taken_for_damage(tmp_path: Path) -> None:
    """An error of the caller stays what it is."""
    with zipfile.ZipFile(tmp_path / "2026-04.zip", "w") as archive:
        archive.writestr("a.txt", b"text")

    def use(file: BinaryIO) -> None:
        raise ValueError(file.read().decode())

    with pytest.raises(ValueError, match="text"), opened(Places(tmp_path), "2026-04.zip", "a.txt") as file:
        use(file)
    assert isinstance(file, io.IOBase)
