"""Redacting by a pattern: out of the strings of JSON and of free text, and nothing else changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory import PatternRefused
from memory.L4_raw_sessions.sections import Section, put, read_sections
from memory.L4_raw_sessions.sweeping import MARK, Sweep, sweep_log
from tests.memory.L4_raw_sessions.archives import APRIL, free


@pytest.mark.parametrize("pattern", ["(", "", "a*", "redacted", ".", r"(?=x)x"])
def test_patterns_that_are_refused(pattern: str) -> None:
    """What is no pattern, fits nothing, or fits what is put in its place would spoil the archive."""
    with pytest.raises(PatternRefused):
        Sweep.of(pattern)


@pytest.mark.parametrize("data", [b"", b"{}", b'{"a": 1.50, "secret": 2}', b"[true]", b'"other"', b'{"a":"\\ud800"}'])
def test_nothing_changes_where_it_is_not(data: bytes) -> None:
    """Not a byte: neither spaces nor numbers nor names."""
    assert Sweep.of("hush").json(data) == data


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(b'{"a": "say hush now"}', b'{"a": "say %b now"}', id="in a string"),
        pytest.param(b'{"hush":1.50}', b'{"%b":1.50}', id="in a name"),
        pytest.param(rb'{"a":"{\"b\":\"hush\"}"}', rb'{"a":"{\"b\":\"%b\"}"}', id="in JSON in a string"),
        pytest.param(rb'{"a":"h\u0075sh"}', b'{"a":"%b"}', id="escaped"),
        pytest.param('{"a":"é hush"}'.encode(), '{"a":"é %b"}'.encode(), id="beside letters that are not ASCII"),
        pytest.param(rb'{"a":"\ud800 hush"}', rb'{"a":"\ud800 %b"}', id="beside half a character"),
        pytest.param(b"no JSON hush \xff", b"no JSON %b \xff", id="in what is no JSON"),
    ],
)
def test_it_is_taken_out(before: bytes, after: bytes) -> None:
    """And JSON stays JSON."""
    assert Sweep.of("hush").json(before) == after.replace(b"%b", MARK.encode())


def test_our_own_patterns_are_the_default() -> None:
    """They may have grown since a text was stored."""
    key = "sk-" + "ant-api03-" + "A1b2C3d4" * 6
    assert key not in Sweep.of(None).text(f"my key is {key}")
    assert Sweep.of(None).json(b'{"a": "plain"}') == b'{"a": "plain"}'


def test_sections_are_sealed_again(tmp_path: Path) -> None:
    """Ours say their new length and digest; those of others are what they were but for it."""
    mine = put("Prompt", APRIL, json.dumps({"messages": [{"content": "hush\nhush"}]}).encode(), id="1", session="s")
    path = tmp_path / "log"
    path.write_bytes(mine + free("not hush", "well"))
    with path.open("rb") as file:
        swept = b"".join(sweep_log(read_sections(file), Sweep.of("hush")))
    path.write_bytes(swept)
    with path.open("rb") as file:
        first, *rest = read_sections(file)
    assert first.sealed is not None
    assert json.loads(first.sealed) == {"messages": [{"content": f"{MARK}\n{MARK}"}]}
    assert (first.fields["id"], first.time) == ("1", APRIL // 1)
    assert b"".join(s.head + s.body for s in rest) == free("not hush", "well").replace(b"hush", MARK.encode())
    assert Sweep.of("hush").section(first) == first


@pytest.mark.parametrize("head", [b"", b"hush\n", b"=== Response === 2026-04-03 20:13:13 model=hush\n"])
def test_heads_are_looked_at_too(head: bytes) -> None:
    """A model, say, is called so."""
    assert b"hush" not in Sweep.of("hush").section(Section(head, b"hush")).head


@given(st.binary(max_size=60))
def test_a_line_keeps_its_length(line: bytes) -> None:
    """So that all others stay where they are."""
    line = line.replace(b"\n", b"")
    for whole in (line, line + b"\n", line + b"hush", line + b"hush hush" + line + b"\n"):
        swept = Sweep.of("hush").line(whole)
        assert len(swept) == len(whole)
        assert b"hush" not in swept
        assert swept.endswith(b"\n") == whole.endswith(b"\n")
