"""Texts of the index: each once, gone without a trace when nobody says them any more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from memory.L4_raw_sessions import texts
from memory.L4_raw_sessions.index import Index
from memory.L4_raw_sessions.texts import Line
from memory.L4_raw_sessions.tokens import query


def line(ordinal: int, text: str) -> Line:
    """A message."""
    return Line(ordinal=ordinal, name=None, role="user", time=1.0, text=text)


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    """An empty index."""
    with closing(Index.open(tmp_path / "index.sqlite")) as opened:
        yield opened


def found(index: Index, word: str) -> int:
    """Texts that hold a word."""
    return len(index.rows("SELECT rowid FROM words WHERE words MATCH ?", (query(word),)))


def test_a_text_that_two_say_is_stored_once(index: Index) -> None:
    """Its words, too."""
    with index.transaction():
        texts.put(index, 1, [line(0, "alpha beta"), line(1, "gamma")])
        texts.put(index, 2, [line(0, "alpha beta")])
    assert index.rows("SELECT count(*) FROM texts") == [(2,)]
    assert found(index, "alpha") == 1
    assert texts.text_of(index, 1) == "alpha beta"


def test_what_somebody_still_says_stays(index: Index) -> None:
    """Only what nobody says goes, and its words with it."""
    with index.transaction():
        texts.put(index, 1, [line(0, "alpha 数据库"), line(1, "gamma")])
        texts.put(index, 2, [line(0, "gamma")])
    with index.transaction():
        index.rows("DELETE FROM messages WHERE part = 1")
        texts.drop_orphans(index)
    assert (found(index, "alpha"), found(index, "据库"), found(index, "gamma")) == (0, 0, 1)
    index.rows("INSERT INTO words (words) VALUES ('integrity-check')")


def test_what_went_is_in_no_file(index: Index, tmp_path: Path) -> None:
    """Neither in a free page nor in the log nor as a word of the index."""
    with index.transaction():
        texts.put(index, 1, [line(0, "unmistakable"), line(1, "other")])
    assert any(b"unmistakable" in path.read_bytes() for path in tmp_path.iterdir())
    with index.transaction():
        index.rows("DELETE FROM messages WHERE ordinal = 0")
        texts.drop_orphans(index)
    texts.purge(index)
    assert not any(b"unmistak" in path.read_bytes() for path in tmp_path.iterdir())


def test_a_huge_text_counts_by_its_ends(index: Index) -> None:
    """All of it is kept; the words in its middle do not fill the index."""
    huge = "begin " + "x " * texts.COUNTED + "middle " + "y " * texts.COUNTED + "end"
    with index.transaction():
        texts.put(index, 1, [line(0, huge)])
    assert [found(index, word) for word in ("begin", "middle", "end")] == [1, 0, 1]
    assert texts.text_of(index, 1) == huge


def test_half_a_character_is_no_trouble(index: Index) -> None:
    """Clients send such."""
    with index.transaction():
        texts.put(index, 1, [line(0, "half \ud800 one")])
    assert texts.text_of(index, 1) == "half ? one"


def test_clearing(index: Index) -> None:
    """Nothing is left, and it can be filled again."""
    with index.transaction():
        texts.put(index, 1, [line(0, "alpha")])
        texts.clear(index)
    assert found(index, "alpha") == 0
    with index.transaction():
        texts.put(index, 1, [line(0, "alpha")])
    assert found(index, "alpha") == 1
