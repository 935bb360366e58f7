"""Forgetting: gone from every file, and nothing else with it."""

from __future__ import annotations

import asyncio
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memory import StoreError, forget, forget_all, resolve, search_history, search_sessions
from memory.L4_raw_sessions.catchup import home
from memory.L4_raw_sessions.live import FILE, LiveSessions
from memory.L4_raw_sessions.tombstones import forgotten_messages
from tests.memory.L4_raw_sessions.talks import Talks

SECRET = "unmistakable"


def traces(talks: Talks, word: str = SECRET) -> list[str]:
    """Files in which the word stands: as it is, in a member of a zip, or in a row of the archive or of the index."""
    import zipfile

    found = [name for name, data in talks.files().items() if word.encode() in data]
    for path in talks.l4.rglob("*.zip"):
        with zipfile.ZipFile(path) as archive:
            found += [f"{path.name}/{name}" for name in archive.namelist() if word.encode() in archive.read(name)]
    for path, sql in ((talks.root / FILE, "SELECT data FROM contents"), (talks.places.index, "SELECT data FROM texts")):
        if path.exists():
            with closing(sqlite3.connect(path)) as connection, connection:
                found += [path.name for (data,) in connection.execute(sql) if word.encode() in zlib.decompress(data)]
    return found


@pytest.fixture
def talks(tmp_path: Path) -> Talks:
    """One session in two zips, in the trash and live; one beside it in each."""
    talks = Talks(tmp_path / "data")
    for part in range(2):
        talks.say("mine", f"{SECRET} {part}", answer=f"{SECRET}, I see")
        talks.say("other", f"kept {part}")
        talks.archive()
        talks.now += 31 * 86_400
    talks.say("mine", f"{SECRET} at last")
    talks.say("other", "kept at last")
    return talks


def test_nothing_to_forget(tmp_path: Path) -> None:
    """Where nothing is stored that is said; an unknown session changes nothing."""
    with pytest.raises(StoreError, match="nothing is archived"):
        forget("mine", l4_dir=tmp_path / "none")
    assert forget_all(l4_dir=tmp_path / "none") == []
    talks = Talks(tmp_path)
    talks.say("other", "kept")
    forgotten = forget("mine", l4_dir=talks.l4)
    assert (forgotten.names, forgotten.rows, forgotten.raw, forgotten.problems) == ((), 0, 0, ())
    assert forgotten_messages(talks.places, "mine") is None


@pytest.mark.parametrize("name", ["mine", "2026-05/0501_0147-0501_0147"])
def test_no_file_holds_it_any_more(talks: Talks, name: str) -> None:
    """Archive, log, trash, zips, histories, index; what others said is where it was."""
    assert search_sessions(SECRET, l4_dir=talks.l4)
    before = search_history("kept", l4_dir=talks.l4)
    forgotten = forget(name, l4_dir=talks.l4)
    assert forgotten.session == "mine"
    assert forgotten.names == ("2026-05/0501_0147-0501_0147", "2026-06/0602_0149-0602_0149")
    assert (forgotten.raw, forgotten.problems) == (2, ())
    assert traces(talks) == []
    assert search_sessions(SECRET, l4_dir=talks.l4) == []
    assert search_history(SECRET, l4_dir=talks.l4) == []
    assert search_history("kept", l4_dir=talks.l4) == before
    assert [one.session for one in search_sessions("kept", l4_dir=talks.l4)] == ["other"]
    assert forgotten_messages(talks.places, "mine") == 6
    assert "mine" not in (talks.l4 / "forgotten.txt").read_text()


def test_the_next_run_finds_everything_in_order(talks: Talks) -> None:
    """Blocks stay where they are, and what is left is archived as ever."""
    forget("mine", l4_dir=talks.l4)
    report = talks.archive()
    assert (report["errors"], report["new_sessions"]) == ([], 1)
    assert traces(talks) == []


def test_forgetting_twice_changes_nothing(talks: Talks) -> None:
    """Cut off, it may be called again."""
    forget("mine", l4_dir=talks.l4)
    before = talks.files()
    again = forget("mine", l4_dir=talks.l4)
    assert (again.names, again.raw) == ((), 0)
    after = talks.files()
    assert {name for name in before | after if before.get(name) != after.get(name)} <= {
        "archive.sqlite",
        "memory/L4_raw_sessions/index.sqlite",
    }


@pytest.mark.parametrize("step", ["_forget_raw", "_forget_members", "blank_blocks", "_forget_rows"])
def test_cut_off_anywhere_it_is_finished_by_the_next_call(talks: Talks, step: str) -> None:
    """The index goes last: until then it tells what is still to be done."""

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"memory.L4_raw_sessions.forgetting.{step}", stop)
        with pytest.raises(KeyboardInterrupt):
            forget("mine", l4_dir=talks.l4)
    forget("mine", l4_dir=talks.l4)
    assert traces(talks) == []
    assert forgotten_messages(talks.places, "mine") == 6


def test_what_cannot_be_looked_into_is_named(talks: Talks) -> None:
    """A person may have to remove it."""
    talks.places.quarantine.mkdir()
    (talks.places.quarantine / "2026-05.zip.1").write_bytes(b"damaged")
    first, _ = talks.places.zips()
    first.write_bytes(b"damaged, too")
    problems = forget("mine", l4_dir=talks.l4).problems
    assert [name in " ".join(problems) for name in ("2026-05.zip.1", first.name)] == [True, True]


def test_inside_a_running_loop(talks: Talks) -> None:
    """It may be called from a coroutine; it waits."""

    async def call() -> int:
        return len(forget("mine", l4_dir=talks.l4).names)

    assert asyncio.run(call()) == 2


def test_what_is_said_afterwards_takes_nobody_s_place(talks: Talks) -> None:
    """A pointer to what was forgotten points to nothing, live and archived; the next message has the next number."""
    forget("mine", l4_dir=talks.l4)
    talks.say("mine", "something new", answer=None)
    for _ in range(2):
        found = [resolve(f"L4:mine#{k}", l4_dir=talks.l4) for k in range(8)]
        assert [told and told.text for told in found] == [*[None] * 6, "something new", None]
        talks.archive()
    forget("mine", l4_dir=talks.l4)
    assert forgotten_messages(talks.places, "mine") == 7


def test_everything_of_a_tenant(talks: Talks) -> None:
    """And nothing of another's, though a session of theirs is called the same."""
    other = Talks(talks.root, tenant="second")
    other.count = 1000
    other.say("mine", "of the second")
    assert {one.session for one in forget_all(l4_dir=talks.l4)} == {"mine", "other"}
    assert traces(talks) == []
    assert talks.places.zips() == []
    found = home(talks.places)
    assert found is not None
    with LiveSessions.opened(talks.root, "second") as live:
        assert live is not None
        assert [one.content != "" for one in live.messages("mine")] == [True, True]
