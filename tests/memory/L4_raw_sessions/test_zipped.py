"""Contents out of the zips, byte for byte."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from memory.canon import digest
from memory.L4_raw_sessions.sections import put
from memory.L4_raw_sessions.zipped import Zipped, contents_of
from tests.memory.L4_raw_sessions.archives import APRIL, free
from tests.memory.L4_raw_sessions.talks import Talks


def log(prompt: str, response: str) -> io.BytesIO:
    """One exchange of ours."""
    head = put("Prompt", APRIL, prompt.encode(), id="r", at="1.0", session="s")
    return io.BytesIO(head + put("Response", APRIL, response.encode(), model="m"))


@pytest.mark.parametrize(
    ("file", "told"),
    [
        pytest.param(io.BytesIO(), [], id="nothing"),
        pytest.param(io.BytesIO(free("question", "answer")), [], id="free text has no names"),
        pytest.param(log('{"names":[],"messages":[]}', '{"message":null,"name":null}'), [], id="no answer"),
        pytest.param(log('{"names":[],"messages":[]}', '{"message":{"a":1}}'), [], id="an answer without a name"),
        pytest.param(
            log('{"names":["m1"],"messages":[{"a" : 1}],"head":{"x":[]}}', '{"name":"m2","message":{"b":  2}}'),
            [("m1", b'{"a" : 1}'), (digest(b'{"x":[]}'), b'{"x":[]}'), ("m2", b'{"b":  2}')],
            id="messages, head and answer, each blank as it was",
        ),
        pytest.param(
            log('{"names":["m1"],"messages":[1]}', '{"name":"m2","message":{"b":"\\ud800"}}'),
            [("m1", b"1")],
            id="an answer with half a character is told by the archive itself",
        ),
    ],
)
def test_contents(file: io.BytesIO, told: list[tuple[str, bytes]]) -> None:
    """Each with its name."""
    assert list(contents_of(file)) == told


def test_asking_makes_nothing(tmp_path: Path) -> None:
    """A folder in which nobody remembers anything stays as it is."""
    assert Zipped(tmp_path).read("tenant", "session", {"name"}) == {}
    assert list(tmp_path.iterdir()) == []


def test_from_all_parts(tmp_path: Path) -> None:
    """What is asked for and there; with an index or without."""
    talks = Talks(tmp_path / "data")
    first = talks.say("mine", "one", answer="two")
    talks.archive()
    second = talks.say("mine", "three", answer="four")
    talks.archive()
    wanted = {first.messages[0].hash, second.messages[0].hash, "unknown"}
    told = Zipped(talks.root).read("first", "mine", wanted)
    assert told == {one.messages[0].hash: one.messages[0].content for one in (first, second)}
    assert Zipped(talks.root).read("first", "other", wanted) == {}
    assert Zipped(talks.root).read("nobody", "mine", wanted) == {}
    talks.places.index.write_bytes(b"damaged")
    assert Zipped(talks.root).read("first", "mine", wanted) == told
    for path in talks.l4.glob("*.zip"):
        path.write_bytes(b"damaged")
    assert Zipped(talks.root).read("first", "mine", wanted) == {}
