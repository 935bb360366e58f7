"""Raw logs come apart at their markers, and together again byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.L4_raw_sessions.sections import Section, put, read_sections

T = 1775247193.0


def sections_of(folder: Path, data: bytes) -> list[Section]:
    """What is read from a file with these bytes."""
    path = folder / "log.txt"
    path.write_bytes(data)
    with path.open("rb") as file:
        return list(read_sections(file))


@pytest.mark.parametrize(
    ("data", "kinds"),
    [
        pytest.param(b"", [], id="an empty file has no section"),
        pytest.param(b"no marker\n\x00\xff", [""], id="what has no marker is one section"),
        pytest.param(b" === USER ===\n=== USER ===x\n", [""], id="a marker stands alone in its line"),
        pytest.param(b"=== Prompt === 2026-04-03 20:13:13\nhi\n", ["Prompt"], id="a prompt"),
        pytest.param(b"=== Prompt ===\nhi\n=== USER ===\nx\n", ["Prompt", "USER"], id="a prompt without a time"),
        pytest.param(b"before\n=== Response === soon\r\nx", ["", "Response"], id="text before the first marker"),
    ],
)
def test_kinds(tmp_path: Path, data: bytes, kinds: list[str]) -> None:
    """Each marker begins a section."""
    assert [section.kind for section in sections_of(tmp_path, data)] == kinds


PIECES = st.sampled_from(
    [
        *(b"=== Prompt === 2026-04-03 20:13:13\n", b"=== USER ===\n", b"=== ASSISTANT ===\n", b"=== Response ===\n"),
        *(b"=== Prompt === 2026-04-03 20:13:13 len=5 sha=x\n", b"text", b"\n", b"\r\n", b"\xff\x00", b"=", b" "),
        *(put("Prompt", T, b'{"a":1}', id="x"), put("Response", T, b"=== USER ===\n")),
        *(b"=== Prompt === 2026-04-03 20:13:13 len=99999999999999999999\n",),
    ]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(PIECES, max_size=12))
def test_nothing_is_lost(tmp_path: Path, pieces: list[bytes]) -> None:
    """Sections one after the other are the file, whatever is in it."""
    data = b"".join(pieces)
    assert b"".join(section.head + section.body for section in sections_of(tmp_path, data)) == data


def test_a_sealed_body_is_taken_whole(tmp_path: Path) -> None:
    """What looks like a marker in a body that its marker seals is none."""
    body = b"{}\n=== ASSISTANT ===\n=== Response === 2026-04-03 20:13:13\n"
    first, second = sections_of(tmp_path, put("Prompt", T, body, id="a b/c", model="é=1") + put("Response", T, b"{}"))
    assert (first.sealed, second.sealed) == (body, b"{}")
    assert first.fields["id"] == "a b/c"
    assert first.fields["model"] == "é=1"
    assert first.time == T


def test_a_torn_body_is_read_by_its_lines(tmp_path: Path) -> None:
    """Where the seal does not fit nothing is believed of it, and the sections behind it are found."""
    torn = put("Prompt", T, b'{"a":"' + b"x" * 50 + b'"}')[:-20]
    first, second = sections_of(tmp_path, torn + b"\n" + put("Response", T, b"{}"))
    assert first.sealed is None
    assert second.sealed == b"{}"


@pytest.mark.parametrize(
    ("said", "time"),
    [
        ("2026-04-03 20:13:13", T),
        ("2026-04-03 20:13:13 model=x", T),
        ("2026-04-03 20:13:13 and so on", T),
        ("2026-13-03 20:13:13", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_times(said: str, time: float | None) -> None:
    """A time is read where the marker has one."""
    assert Section(f"=== Response === {said}\n".encode(), b"").time == time
