"""What is searched follows what is said and what is archived, a step behind and never twice."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memory import StoreError
from memory.L4_raw_sessions.catchup import catch_up, home, is_recorded
from memory.L4_raw_sessions.index import Index
from memory.L4_raw_sessions.places import Places
from memory.roots import root_of
from tests.memory.L4_raw_sessions.talks import Talks


@pytest.fixture
def talks(tmp_path: Path) -> Talks:
    """Nothing was said yet."""
    return Talks(tmp_path / "data")


def words(index: Index) -> list[tuple[str, str]]:
    """(part, text) of all messages that are searched."""
    from memory.L4_raw_sessions.texts import text_of

    sql = "SELECT part, text FROM messages ORDER BY part > 0, abs(part), ordinal"
    return [("live" if part < 0 else "zip", text_of(index, text)) for part, text in index.rows(sql)]


def caught_up(talks: Talks) -> tuple[int, list[tuple[str, str]]]:
    """Catch up, and what is searched then."""
    index = Index.open(talks.places.index)
    try:
        return catch_up(talks.places, index), words(index)
    finally:
        index.close()


def test_nothing_was_said(talks: Talks) -> None:
    """Nothing is searched."""
    assert caught_up(talks) == (0, [])
    assert not is_recorded(talks.places)


def test_live_sessions_are_followed(talks: Talks) -> None:
    """What was caught up with is not looked at again."""
    talks.say("a", "one", answer="two")
    assert caught_up(talks) == (1, [("live", "one"), ("live", "two")])
    assert caught_up(talks)[0] == 0
    talks.say("a", "three", answer=None)
    assert caught_up(talks) == (1, [("live", "one"), ("live", "two"), ("live", "three")])


def test_what_is_archived_is_not_live(talks: Talks) -> None:
    """And what is said afterwards is live again, under the number that it has in the session."""
    talks.say("a", "one", answer="two")
    caught_up(talks)
    talks.archive()
    assert caught_up(talks)[1] == [("zip", "one"), ("zip", "two")]
    talks.say("a", "three", answer=None)
    index = Index.open(talks.places.index)
    catch_up(talks.places, index)
    assert words(index) == [("live", "three"), ("zip", "one"), ("zip", "two")]
    assert index.rows("SELECT ordinal FROM messages WHERE part < 0") == [(2,)]
    index.close()


def test_archived_before_anybody_searched(talks: Talks) -> None:
    """A session is not taken for live because the archive holds it, too."""
    talks.say("a", "one", answer="two")
    talks.archive()
    assert caught_up(talks)[1] == [("zip", "one"), ("zip", "two")]


def test_an_archive_that_was_put_back_from_a_copy(talks: Talks) -> None:
    """It has fewer exchanges than were caught up with: all are looked at again."""
    talks.say("a", "one", answer=None)
    copy = (talks.root / "archive.sqlite").read_bytes()
    talks.say("b", "two", answer=None)
    caught_up(talks)
    (talks.root / "archive.sqlite").write_bytes(copy)
    talks.say("c", "three", answer=None)
    talks.say("d", "four", answer=None)
    assert ("live", "four") in caught_up(talks)[1]


def test_in_the_place_of_a_damaged_member_the_archive_speaks(talks: Talks) -> None:
    """If it still holds what was said; and the member is not read again with every search."""
    talks.say("a", "one " * 50)
    copy = (talks.root / "archive.sqlite").read_bytes()
    talks.archive()
    (talks.root / "archive.sqlite").write_bytes(copy)
    talks.say("b", "two " * 50)
    talks.now += 40 * 86_400
    talks.archive()
    first = sorted(talks.l4.glob("*.zip"))[0]
    data = bytearray(first.read_bytes())
    data[60:80] = bytes(20)
    first.write_bytes(data)
    index = Index.open(talks.places.index)
    index.rows("DELETE FROM messages")  # the runs that archived them could not write it
    index.close()
    assert [(kind, text[:4]) for kind, text in caught_up(talks)[1] if text != "well"] == [
        ("live", "one "),
        ("zip", "two "),
    ]
    assert caught_up(talks)[0] == 0


def test_a_fault_of_the_index_is_not_taken_for_a_damaged_member(talks: Talks) -> None:
    """Nothing is left out for good because the index cannot be written now."""
    talks.say("a", "one")
    talks.archive()
    index = Index.open_reader(talks.places.index)
    assert index is not None
    with pytest.raises(StoreError):
        catch_up(talks.places, index)
    index.close()
    assert len(caught_up(talks)[1]) == 2


def test_each_tenant_has_its_own(talks: Talks) -> None:
    """Nobody finds what another said."""
    talks.say("a", "mine", answer=None)
    other = Talks(talks.root, tenant="a second/one")
    other.count = 100
    other.say("a", "theirs", answer=None)
    places = Places(root_of(talks.root, "a second/one") / "memory" / "L4_raw_sessions")
    assert home(places) == (talks.root.absolute(), "a second/one")
    assert caught_up(talks)[1] == [("live", "mine")]
    index = Index.open(places.index)
    catch_up(places, index)
    assert words(index) == [("live", "theirs")]
    index.close()


def test_two_that_catch_up_at_once(talks: Talks) -> None:
    """Each message is there once, whoever was first."""
    for number in range(6):
        talks.say(f"session {number}", f"one {number}", answer=f"two {number}")
        if number == 2:
            talks.archive()
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: caught_up(talks)[1], range(4)))
    assert len(caught_up(talks)[1]) == 12
    assert {len(one) for one in found} == {12}
