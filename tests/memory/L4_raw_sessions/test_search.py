"""One search over live and archived sessions: what answers, in which order, and what it says of itself."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory import StoreError, rebuild_index, search_sessions
from memory.L4_raw_sessions.search import moment
from tests.memory.L4_raw_sessions.talks import MAY, Talks


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Talks:
    """Two archived sessions, one that was archived and goes on, and a live one."""
    talks = Talks(tmp_path_factory.mktemp("talks") / "data")
    talks.say("old", "The connection was refused", answer="try 数据库接口", model="large")
    talks.say("going", "needle one", answer={"role": "assistant", "content": "needle two needle"})
    talks.archive()
    talks.say("going", {"role": "tool", "content": "needle three"}, answer=None)
    talks.say("new", "The connection was refused", answer="so it was")
    return talks


@pytest.fixture
def ask(filled: Talks) -> Callable[..., list[tuple[str, str]]]:
    """(session, pointer) of what is found."""

    def search(words: str, **wanted: Any) -> list[tuple[str, str]]:
        found = search_sessions(words, l4_dir=filled.l4, **wanted)
        return [(one.session, one.pointer) for one in found]

    return search


@pytest.mark.parametrize("words", ["", "…", "absent", "needle absent", "refused AND", "数据接口", "conn"])
def test_what_nobody_said(ask: Callable[..., list[tuple[str, str]]], words: str) -> None:
    """Nothing is found, and nothing raised."""
    assert ask(words) == []


def test_nothing_was_ever_stored(tmp_path: Path) -> None:
    """And a question does not make a folder."""
    assert search_sessions("word", l4_dir=tmp_path / "none") == []
    assert list(tmp_path.iterdir()) == []


OLD, NEW = ("old", "L4:2026-05/0501_0147-0501_0147#0"), ("new", "L4:new#0")


def test_live_and_archived_together(ask: Callable[..., list[tuple[str, str]]]) -> None:
    """Of two that say the same the newer comes first."""
    assert ask("refused connection") == [NEW, OLD]
    assert ask("数据库") == [("old", "L4:2026-05/0501_0147-0501_0147#1")]


def test_a_session_answers_once(filled: Talks) -> None:
    """With the message that answers best, and how many there are; its parts count as one session."""
    (found,) = search_sessions("needle", l4_dir=filled.l4)
    assert (found.session, found.matches, found.snippet, found.role) == ("going", 3, "needle two needle", "assistant")
    assert (found.name, found.pointer) == ("2026-05/0501_0148-0501_0148", "L4:2026-05/0501_0148-0501_0148#1")
    assert (found.model, found.tokens) == ("small", 5)
    assert found.time == pytest.approx(MAY + 125, abs=1)
    assert found.score > 0


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        pytest.param({"session": "absent"}, [], id="an unknown session"),
        pytest.param({"role": "tool"}, [], id="a role that did not say it"),
        pytest.param({"since": MAY + 1e9}, [], id="after everything"),
        pytest.param({"until": MAY - 1}, [], id="before everything"),
        pytest.param({"limit": 1}, ["new"], id="one is enough"),
        pytest.param({"role": "user"}, ["new", "old"], id="the role that said it"),
        pytest.param({"model": "large"}, ["old"], id="a model"),
        pytest.param({"session": "old"}, ["old"], id="a session by its id"),
        pytest.param({"session": "2026-05/0501_0147-0501_0147"}, ["old"], id="a session by its name"),
        pytest.param({"since": "2026-05-02"}, ["new"], id="since a date"),
        pytest.param({"until": datetime(2026, 5, 2, tzinfo=UTC)}, ["old"], id="until a moment"),
        pytest.param({"since": MAY, "until": MAY + 1e9, "role": "user", "model": "small"}, ["new"], id="all together"),
    ],
)
def test_what_is_wanted(ask: Callable[..., list[tuple[str, str]]], wanted: dict[str, Any], expected: list[str]) -> None:
    """Each condition leaves out what does not meet it."""
    assert [session for session, _ in ask("connection refused", **wanted)] == expected


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        (None, None),
        (7, 7),
        ("1970-01-02", 86400.0),
        ("1970-01-01T01:00:00+01:00", 0.0),
        (datetime(1970, 1, 1, 1), 3600.0),
    ],
)
def test_moments(said: Any, seconds: float | None) -> None:
    """As a number, as text, as a time; UTC where no zone is said."""
    assert moment(said) == seconds


def test_what_is_no_date_is_refused() -> None:
    """It would find everything, or nothing."""
    with pytest.raises(ValueError, match="yesterday"):
        moment("yesterday")


@pytest.mark.parametrize("trouble", ["lost", "no database", "words damaged"])
def test_a_broken_index_is_made_anew(filled: Talks, tmp_path: Path, trouble: str) -> None:
    """The next question answers as before."""
    folder = tmp_path / "data"
    shutil.copytree(filled.root, folder)
    l4 = folder / "memory" / "L4_raw_sessions"
    before = search_sessions("connection", l4_dir=l4)
    path = l4 / "index.sqlite"
    if trouble == "words damaged":
        from memory.L4_raw_sessions.index import Index

        index = Index.open(path)
        index.rows("DELETE FROM words_data WHERE id > 10")
        index.close()
    else:
        path.unlink()
        if trouble == "no database":
            path.write_bytes(b"no database at all" * 100)
    assert search_sessions("connection", l4_dir=l4) == before


def test_a_folder_that_cannot_be_written_is_searched_as_it_is(filled: Talks, monkeypatch: pytest.MonkeyPatch) -> None:
    """What came since is not found, all else is."""
    before = search_sessions("connection", l4_dir=filled.l4)

    def refuse(path: Path) -> None:
        raise StoreError("read-only")

    monkeypatch.setattr("memory.L4_raw_sessions.index.Index.open", refuse)
    assert search_sessions("connection", l4_dir=filled.l4) == before


def test_a_run_that_is_under_way_is_no_obstacle(filled: Talks) -> None:
    """What is in the index already is found."""
    from memory.L4_raw_sessions.files import lease

    with lease(filled.places.lock) as held:
        assert held
        assert len(search_sessions("connection", l4_dir=filled.l4)) == 2
        with pytest.raises(StoreError, match="a run is under way"):
            rebuild_index(l4_dir=filled.l4)


def test_of_a_word_that_stands_everywhere_the_newest_are_ranked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where something more is wanted, all of them are."""
    talks = Talks(tmp_path)
    for number in range(4):
        talks.say(f"session {number}", f"everywhere {number}", answer=None)
    monkeypatch.setattr("memory.L4_raw_sessions.search.RANKED", 2)
    assert [one.session for one in search_sessions("everywhere", l4_dir=talks.l4)] == ["session 3", "session 2"]
    assert len(search_sessions("everywhere", role="user", l4_dir=talks.l4)) == 4
    assert [one.session for one in search_sessions("everywhere 0", l4_dir=talks.l4)] == ["session 0"]
