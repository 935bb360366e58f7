"""Pointers and what they lead to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.errors import EntryRefused
from memory.levels.pointers import Pointer, Zips, read_pointer


@pytest.mark.parametrize("text", ["", "L4:", "L3:deploy", "L4:a b", "L4:a#", "L4:a#b", "L4:a#1#2", "l4:a"])
def test_what_is_no_pointer_is_refused(text: str) -> None:
    """With the form in which to write one."""
    with pytest.raises(EntryRefused, match="write L4:SESSION"):
        read_pointer(text)


@given(
    session=st.text(alphabet="abc/:.@~-_0123", min_size=1, max_size=30), message=st.none() | st.integers(0, 999_999_999)
)
def test_a_pointer_is_read_as_it_was_written(session: str, message: int | None) -> None:
    """Ids of clients hold slashes and colons."""
    pointer = Pointer(session, message)
    assert read_pointer(str(pointer)) == pointer


def test_a_session_is_archived_where_a_zip_of_its_month_holds_it(root: Path, archived: Callable[..., str]) -> None:
    """In the second zip of a month as well."""
    first = archived()
    (root / "L4_raw_sessions/2026-04.zip").rename(root / "L4_raw_sessions/2026-04_2.zip")
    archived("0501_0000-0501_0001")

    assert Zips(root).has(first)
    assert Zips(root).has("2026-04/0501_0000-0501_0001")


@pytest.mark.parametrize("name", ["", "s-1", "2026-04/none", "2026-05/0403_2013-0403_2145", "2026-04/../x"])
def test_others_are_not(root: Path, archived: Callable[..., str], name: str) -> None:
    """Ids, other months, names that no zip holds."""
    archived()
    assert not Zips(root).has(name)


def test_a_damaged_zip_holds_nothing(root: Path, archived: Callable[..., str]) -> None:
    """A pointer into it is dead until it is mended."""
    name = archived()
    (root / "L4_raw_sessions/2026-04.zip").write_bytes(b"no zip")
    assert not Zips(root).has(name)
