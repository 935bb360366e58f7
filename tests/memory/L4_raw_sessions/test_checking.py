"""`verify`: says nothing of an archive that is whole, and names what is not."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any, BinaryIO

import pytest

from memory import verify
from memory.L4_raw_sessions.index import Index
from memory.L4_raw_sessions.rewriting import rewrite_zip
from memory.L4_raw_sessions.zips import facts_of
from tests.memory.L4_raw_sessions.talks import Talks


@pytest.fixture
def talks(tmp_path: Path) -> Talks:
    """Two months."""
    talks = Talks(tmp_path / "data")
    for month in range(2):
        talks.say("a", f"one {month} " * 40)
        talks.say("b", f"two {month}")
        talks.archive()
        talks.now += 31 * 86_400
    return talks


def overwrite(source: BinaryIO, target: IO[bytes]) -> dict[str, Any]:
    """Another content under the old facts."""
    target.write(b"changed")
    return {}


def test_nothing_to_verify(tmp_path: Path) -> None:
    """No zip, no problem."""
    found = verify(l4_dir=tmp_path / "none")
    assert (found.zips, found.members, found.problems) == (0, 0, ())


@pytest.mark.parametrize(("month", "zips", "members"), [(None, 2, 4), ("2026-05", 1, 2), ("2020-01", 0, 0)])
def test_all_is_as_it_was(talks: Talks, month: str | None, zips: int, members: int) -> None:
    """Of a month, or of all."""
    found = verify(month, l4_dir=talks.l4)
    assert (found.zips, found.members, found.problems) == (zips, members, ())


def test_what_is_not(talks: Talks) -> None:
    """Each problem is named with its place, once."""
    may, june = talks.places.zips()
    first, second = facts_of(may)
    rewrite_zip(may, {first: overwrite})
    data = talks.places.histories.read_bytes()
    talks.places.histories.write_bytes(data.replace(second.encode(), second.upper().encode(), 1))
    june.write_bytes(june.read_bytes()[:200])
    problems = verify(l4_dir=talks.l4).problems
    assert len(problems) == 4
    for expected in (
        f"2026-05.zip/{first}: was changed since it was archived",
        f"2026-05.zip/{first}: the index knows another content",
        f"2026-05.zip/{second}: its lines are not in all_histories.txt",
        "2026-06.zip: ",
    ):
        assert any(problem.startswith(expected) for problem in problems), problems


def test_a_member_that_cannot_be_read(talks: Talks) -> None:
    """The other one can."""
    may, _ = talks.places.zips()
    data = bytearray(may.read_bytes())
    data[70:90] = bytes(20)
    may.write_bytes(data)
    found = verify("2026-05", l4_dir=talks.l4)
    assert found.members == 1
    assert [problem.endswith("cannot be read") for problem in found.problems] == [True]


def test_a_zip_that_is_gone(talks: Talks) -> None:
    """The index tells what was in it."""
    talks.places.zips()[0].unlink()
    problems = verify(l4_dir=talks.l4).problems
    assert len(problems) == 2
    assert all(problem.endswith("is in the index and in no zip") for problem in problems)


@pytest.mark.parametrize("damage", ["DELETE FROM words_data WHERE id > 10", "DELETE FROM words_docsize WHERE id = 1"])
def test_words_that_are_damaged(talks: Talks, damage: str) -> None:
    """It is said how to make them anew."""
    verify(l4_dir=talks.l4)
    index = Index.open(talks.places.index)
    index.rows(damage)
    index.close()
    assert any("rebuild" in problem for problem in verify(l4_dir=talks.l4).problems)
