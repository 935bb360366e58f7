"""Pinned decisions: one winner a key, all or nothing, quick errors."""

from __future__ import annotations

import asyncio
import hashlib
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from memory import Decisions, StoreBusy, StoreCorrupt, StoreError

SOON = 5.0

RACER = """
import asyncio, hashlib, pathlib, sys
from memory import Decisions

async def main(path, name):
    decisions = await Decisions.open(pathlib.Path(path))
    print("ready", flush=True)
    sys.stdin.readline()
    for start in range(0, 200, 5):
        rows = [(f"key {k}", f"{name} {k}".encode() * 50) for k in range(start, start + 5)]
        choice = await decisions.choose(rows, 20.0)
        await choice.committed()
        for key in sorted(choice.winners):
            print(key, hashlib.sha256(choice.winners[key]).hexdigest(), flush=True)
    await decisions.aclose()

asyncio.run(main(*sys.argv[1:]))
"""

DYING = """
import asyncio, os, pathlib, signal, sys
from memory import Decisions

async def main(path, moment):
    decisions = await Decisions.open(pathlib.Path(path))
    choice = await decisions.choose([(f"key {k}", b"v" * 9000) for k in range(100)], 5.0)
    if moment == "after":
        await choice.committed()
    else:
        await asyncio.sleep(float(moment))
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main(*sys.argv[1:]))
"""


def run(script: str, *arguments: str) -> subprocess.Popen[str]:
    """Start a second process that works on the same file."""
    return subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the file is to be."""
    return tmp_path / "data" / "decisions.sqlite"


@pytest.fixture
async def decisions(path: Path) -> AsyncIterator[Decisions]:
    """An open, empty store."""
    opened = await Decisions.open(path)
    yield opened
    await opened.aclose()


def stored(path: Path) -> dict[str, bytes]:
    """All that another connection can see."""
    connection = sqlite3.connect(path)
    try:
        return dict(connection.execute("SELECT key, value FROM decisions"))
    finally:
        connection.close()


async def pin(decisions: Decisions, *rows: tuple[str, bytes]) -> dict[str, bytes]:
    """Choose, and wait until it is committed."""
    choice = await decisions.choose(rows, SOON)
    await choice.committed()
    return dict(choice.winners)


async def test_no_keys(decisions: Decisions) -> None:
    """Nothing asked, nothing chosen, nothing to wait for."""
    assert await decisions.find([]) == {}
    choice = await decisions.choose([], 0.0)
    await choice.committed()
    assert choice.winners == {}


async def test_unknown_key_is_not_found(decisions: Decisions) -> None:
    """A key that nobody pinned is absent, not an error."""
    assert await decisions.find(["a"]) == {}


async def test_first_value_stays(decisions: Decisions) -> None:
    """The first value of a key is what everybody gets from then on."""
    await pin(decisions, ("a", b"1"))
    assert await pin(decisions, ("a", b"2"), ("b", b"3")) == {"a": b"1", "b": b"3"}
    assert await decisions.find(["b", "a", "c"]) == {"a": b"1", "b": b"3"}


async def test_same_key_twice_in_one_call(decisions: Decisions) -> None:
    """Within one call too the first value of a key wins."""
    choice = await decisions.choose([("a", b"1"), ("a", b"2")], SOON)
    assert choice.winners == {"a": b"1"}


async def test_many_keys_in_one_question(decisions: Decisions) -> None:
    """There is no limit on how many keys one question may hold."""
    rows = [(f"key {k}", b"%d" % k) for k in range(40_000)]
    await pin(decisions, *rows)
    assert await decisions.find([key for key, _ in rows]) == dict(rows)


async def test_survives_reopening(path: Path) -> None:
    """What was committed is found by the next process."""
    first = await Decisions.open(path)
    await pin(first, ("a", b"1"))
    await first.aclose()
    again = await Decisions.open(path)
    assert await again.find(["a"]) == {"a": b"1"}
    await again.aclose()


async def test_closing_waits_for_the_commit(path: Path) -> None:
    """A choice that nobody waited for is committed by closing."""
    decisions = await Decisions.open(path)
    await decisions.choose([("a", b"1")], SOON)
    await decisions.aclose()
    assert stored(path) == {"a": b"1"}


async def test_many_tasks_agree(decisions: Decisions) -> None:
    """Tasks that choose the same keys at once all get the same values."""

    async def choose(name: int) -> dict[str, bytes]:
        return await pin(decisions, *((f"key {k}", b"%d" % name) for k in range(5)))

    answers = await asyncio.gather(*(choose(name) for name in range(30)))
    assert len(answers[0]) == 5
    assert all(answer == answers[0] for answer in answers)


def test_two_processes_agree(path: Path) -> None:
    """Two processes that race for 200 keys get identical bytes: one winner a key."""
    racers = [run(RACER, str(path), name) for name in ("one", "two")]
    try:
        for racer in racers:
            assert racer.stdout is not None
            assert racer.stdout.readline() == "ready\n"
        answers = []
        for racer in racers:
            assert racer.stdin is not None
            racer.stdin.write("go\n")
            racer.stdin.flush()
        answers = [racer.communicate(timeout=60)[0] for racer in racers]
    finally:
        for racer in racers:
            racer.kill()
            racer.wait()
    assert answers[0] == answers[1]
    final = {key: hashlib.sha256(value).hexdigest() for key, value in stored(path).items()}
    assert len(final) == 200
    assert {line.rsplit(" ", 1)[0]: line.rsplit(" ", 1)[1] for line in answers[0].splitlines()} == final


def test_killed_after_the_commit(path: Path) -> None:
    """What `committed` has acknowledged is there after kill -9."""
    died = run(DYING, str(path), "after")
    died.communicate(timeout=60)
    assert died.returncode == -signal.SIGKILL
    assert len(stored(path)) == 100


@pytest.mark.parametrize("moment", ["0", "0.0002", "0.001"])
def test_killed_before_the_commit(path: Path, moment: str) -> None:
    """A kill beside the commit leaves the choice whole or absent."""
    died = run(DYING, str(path), moment)
    died.communicate(timeout=60)
    assert died.returncode == -signal.SIGKILL
    assert len(stored(path)) in (0, 100)


async def test_locked_by_another(path: Path, decisions: Decisions) -> None:
    """While another process holds the file, choosing gives up in time and nothing is pinned, then or later."""
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    began = time.monotonic()
    with pytest.raises(StoreBusy):
        await decisions.choose([("a", b"1")], 0.1)
    assert time.monotonic() - began < 1.0
    assert await decisions.find(["a"]) == {}
    holder.execute("ROLLBACK")
    holder.close()
    await pin(decisions, ("b", b"2"))
    assert stored(path) == {"b": b"2"}


async def test_lock_that_ends_in_time(path: Path, decisions: Decisions) -> None:
    """A lock that is let go within the deadline costs time and nothing else."""
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    asyncio.get_running_loop().call_later(0.05, holder.close)
    await pin(decisions, ("a", b"1"))
    assert stored(path) == {"a": b"1"}


async def test_slow_disk(path: Path, decisions: Decisions, monkeypatch: pytest.MonkeyPatch) -> None:
    """A statement that ends after the deadline is rolled back; the next choice waits for that, or gives up too."""
    rows = decisions._writer.rows

    async def rows_slowly(sql: str, *arguments: object, **named: object) -> object:
        if sql.startswith("INSERT"):
            await asyncio.sleep(0.2)
        return await rows(sql, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(decisions._writer, "rows", rows_slowly)
    for _ in range(2):
        with pytest.raises(StoreBusy):
            await decisions.choose([("a", b"1")], 0.05)
    monkeypatch.undo()
    await pin(decisions, ("b", b"2"))
    assert stored(path) == {"b": b"2"}


async def test_caller_that_leaves(path: Path, decisions: Decisions) -> None:
    """A caller that is cancelled while it chooses leaves nothing behind and blocks nobody."""
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    choosing = asyncio.ensure_future(decisions.choose([("a", b"1")], SOON))
    await asyncio.sleep(0.05)
    choosing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await choosing
    holder.execute("ROLLBACK")
    holder.close()
    await pin(decisions, ("b", b"2"))
    assert stored(path) == {"b": b"2"}


async def test_caller_that_leaves_while_committing(path: Path, decisions: Decisions) -> None:
    """A commit goes on when the caller that waits for it is cancelled."""
    choice = await decisions.choose([("a", b"1")], SOON)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(choice.committed(), 0)
    await choice.committed()
    assert stored(path) == {"a": b"1"}


async def test_commit_that_fails(path: Path, decisions: Decisions, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the commit fails, `committed` says so to everyone who asks, and the store goes on."""
    rows = decisions._writer.rows

    async def fail(sql: str, *arguments: object, **named: object) -> object:
        if sql == "COMMIT":
            raise StoreError("the disk is full")
        return await rows(sql, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(decisions._writer, "rows", fail)
    choice = await decisions.choose([("a", b"1")], SOON)
    for _ in range(2):
        with pytest.raises(StoreError, match="full"):
            await choice.committed()
    monkeypatch.undo()
    await pin(decisions, ("b", b"2"))
    assert stored(path) == {"b": b"2"}


async def test_disk_full(path: Path, decisions: Decisions) -> None:
    """A full disk is an error at once, with advice, and nothing is pinned by halves."""
    ((pages,),) = await decisions._writer.rows("PRAGMA page_count")
    await decisions._writer.rows(f"PRAGMA max_page_count={pages + 2}")
    with pytest.raises(StoreError, match="free some space"):
        await pin(decisions, ("small", b"1"), ("large", bytes(100_000)))
    assert stored(path) == {}
    await pin(decisions, ("small", b"1"))
    assert stored(path) == {"small": b"1"}


async def test_deleted_file(path: Path, decisions: Decisions) -> None:
    """A file that was deleted under the gateway is an error, not a place where decisions vanish."""
    os.unlink(path)
    with pytest.raises(StoreError, match="check that the folder exists"):
        await decisions.checkpoint()
    with pytest.raises(StoreError, match="deleted or replaced"):
        await decisions.choose([("a", b"1")], SOON)
    assert not os.access(path, os.F_OK)


async def test_after_closing(path: Path) -> None:
    """A closed store answers with its own error."""
    decisions = await Decisions.open(path)
    await decisions.aclose()
    with pytest.raises(StoreError):
        await decisions.choose([("a", b"1")], SOON)
    with pytest.raises(StoreError):
        await decisions.find(["a"])


def test_file_of_another_kind(path: Path) -> None:
    """A file that is no database is refused with what to do, and is left as it is."""
    path.parent.mkdir()
    path.write_bytes(b"not a database, but long enough to be read as one" * 100)
    with pytest.raises(StoreCorrupt, match="move it away"):
        asyncio.run(Decisions.open(path))
    assert path.read_bytes().startswith(b"not a database")


async def test_folder_that_cannot_be(tmp_path: Path) -> None:
    """A path through a file is refused with what to do."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="check that the folder"):
        await Decisions.open(tmp_path / "file" / "decisions.sqlite")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folder_without_permission(tmp_path: Path) -> None:
    """A folder that may not be written is refused with what to do."""
    tmp_path.chmod(0o500)
    with pytest.raises(StoreError, match="check that the folder"):
        asyncio.run(Decisions.open(tmp_path / "data" / "decisions.sqlite"))


async def test_only_the_owner_can_read(path: Path, decisions: Decisions) -> None:
    """Folder and files are closed to other users, the log and the index too."""
    await pin(decisions, ("a", b"1"))
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    files = list(path.parent.iterdir())
    assert len(files) == 3
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


async def test_checkpoint(path: Path, decisions: Decisions) -> None:
    """A checkpoint moves everything into the file, beside a store that goes on choosing."""
    await pin(decisions, ("a", bytes(50_000)))
    before = os.stat(path).st_size
    assert await decisions.checkpoint() == 0
    assert os.stat(path).st_size > before
    await pin(decisions, ("b", b"2"))
    assert await decisions.find(["a", "b"]) == {"a": bytes(50_000), "b": b"2"}


def dates(path: Path) -> dict[str, int]:
    """The day on which each decision was last used, as it is written down."""
    connection = sqlite3.connect(path)
    try:
        return dict(connection.execute("SELECT key, used FROM decisions"))
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("today", "days", "left"),
    [(1000, 0, "abc"), (1001, 90, "abc"), (1090, 90, "abc"), (1091, 90, "c"), (1091, 89, "c"), (2000, 0, "abc")],
    ids=["the same day", "the next day", "the last day", "the day after", "a shorter time", "kept for ever"],
)
async def test_what_no_request_uses_is_forgotten(
    today: int, days: int, left: str, path: Path, decisions: Decisions
) -> None:
    """After so many days without use; a decision counts as used when it is made."""
    await pin(decisions, ("a", b"1"), ("b", b"2"), ("c", b"3"))
    assert await decisions.expire(1000, 90) == 0
    decisions.note_used(["c", "unknown"])
    assert await decisions.expire(today, days) == 3 - len(left)

    assert "".join(sorted(stored(path))) == left
    assert dates(path)["c"] == today


async def test_what_is_used_is_written_down_once_a_day(path: Path, decisions: Decisions) -> None:
    """A clock that was set back takes nothing away, and what is noted is written down only once."""
    await pin(decisions, ("a", b"1"))
    for today, expected in ((0, 0), (1000, 1000), (1001, 1000)):
        await decisions.expire(today, 90)
        assert dates(path) == {"a": expected}
    decisions.note_used(["a"])
    await decisions.expire(999, 90)
    assert dates(path) == {"a": 1000}


async def test_many_are_dated_and_forgotten(path: Path, decisions: Decisions) -> None:
    """In slices, between which a choice finds its turn."""
    await pin(decisions, *((f"key {k}", b"v") for k in range(1234)))
    await asyncio.gather(decisions.expire(1000, 90), pin(decisions, ("meanwhile", b"v")))
    await decisions.expire(1001, 90)
    decisions.note_used(f"key {k}" for k in range(1, 1234, 2))
    assert await decisions.expire(1095, 90) == 618

    assert len(stored(path)) == 617


async def test_two_processes_keep_what_either_uses(path: Path, decisions: Decisions) -> None:
    """Each writes down what its own requests used."""
    other = await Decisions.open(path)
    await pin(decisions, ("a", b"1"), ("b", b"2"), ("c", b"3"))
    await decisions.expire(1000, 90)
    decisions.note_used(["a"])
    await decisions.expire(1080, 90)
    other.note_used(["b"])
    assert await other.expire(1100, 90) == 1
    await other.aclose()

    assert sorted(stored(path)) == ["a", "b"]


async def test_a_file_that_does_not_know_when_it_was_used(path: Path) -> None:
    """An older one is taken over as it is: its decisions count as used when that is first looked at."""
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE decisions (key TEXT PRIMARY KEY, value BLOB NOT NULL)")
        connection.execute("INSERT INTO decisions VALUES ('a', x'31')")
    connection.close()
    opened = await asyncio.gather(*(Decisions.open(path) for _ in range(3)))
    assert await pin(opened[0], ("a", b"2")) == {"a": b"1"}
    assert await opened[1].expire(1000, 90) == 0
    for each in opened:
        await each.aclose()

    assert dates(path) == {"a": 1000}
