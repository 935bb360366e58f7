"""Events of the rule pools: only added, in one order for everybody, without secrets."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import stat
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from memory import EventRow, PoolEvents, StoreCorrupt, StoreError
from memory import pool as module

WRITER = """
import asyncio, pathlib, sys
from memory import PoolEvents

async def main(path, name):
    events = await PoolEvents.open(pathlib.Path(path))
    print("ready", flush=True)
    sys.stdin.readline()
    for k in range(50):
        await events.append([(name, f'{{"k": {k}, "part": {part}}}') for part in range(3)])
    await events.aclose()

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the file is to be."""
    return tmp_path / "data" / "pool.sqlite"


@pytest.fixture
async def events(path: Path) -> AsyncIterator[PoolEvents]:
    """An open, empty file."""
    opened = await PoolEvents.open(path)
    yield opened
    await opened.aclose()


async def test_nothing_is_there_and_nothing_is_added(events: PoolEvents) -> None:
    """An empty file is read as no events, and no events change nothing."""
    await events.append([])
    assert await events.read() == []


async def test_events_come_back_in_order_from_where_one_left_off(
    events: PoolEvents, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader that knows where it was gets each event once, some at a time."""
    monkeypatch.setattr(module, "PAGE", 2)
    await events.append([("", '{"a": 1}'), ("t", '{"b": 2}')])
    await events.append([("t", '{"c": 3}')])

    first = await events.read()
    assert first == [EventRow(1, "", '{"a": 1}'), EventRow(2, "t", '{"b": 2}')]
    assert await events.read(first[-1].seq) == [EventRow(3, "t", '{"c": 3}')]
    assert await events.read(3) == []


async def test_of_two_snapshots_the_one_that_knows_more_stays(events: PoolEvents) -> None:
    """Whoever writes last; there is none before."""
    assert await events.read_snapshot() is None
    for seq, text, stays in ((7, "seven", "seven"), (3, "three", "seven"), (9, "nine", "nine")):
        await events.put_snapshot(seq, text)
        found = await events.read_snapshot()
        assert found is not None
        assert found[1] == stays


async def test_secrets_are_not_written(path: Path, events: PoolEvents) -> None:
    """A key in the evidence of a complaint is gone from the file, and the event is still JSON."""
    secret = "ghp_" + "a1B2" * 9
    await events.append([("t", json.dumps({"data": {"evidence": f"echo {secret}", "password": "correct-horse-9"}}))])

    (row,) = await events.read()
    assert json.loads(row.event)["data"]["evidence"] == "echo [redacted:github-token]"
    assert "correct-horse-9" not in row.event
    assert all(secret.encode() not in file.read_bytes() for file in path.parent.iterdir())


async def test_half_a_character_is_written_as_its_escape(events: PoolEvents) -> None:
    """Text that cannot be encoded does not cost the event."""
    await events.append([("t", '{"evidence": "\udc80"}')])
    (row,) = await events.read()
    assert json.loads(row.event) == {"evidence": "\udc80"}


async def test_all_or_nothing(events: PoolEvents) -> None:
    """A batch that cannot be stored leaves none of its events behind."""
    with pytest.raises(StoreError):
        await events.append([("t", '"one"'), (None, '"two"')])  # type: ignore[list-item]
    assert await events.read() == []
    await events.append([("t", '"three"')])
    assert [row.event for row in await events.read()] == ['"three"']


@pytest.mark.parametrize("change", ["UPDATE events SET tenant = 'x'", "DELETE FROM events"], ids=["changed", "removed"])
async def test_what_happened_stays(path: Path, events: PoolEvents, change: str) -> None:
    """No event is changed or taken out, by whatever connection."""
    await events.append([("t", '"one"')])
    connection = sqlite3.connect(path)
    with pytest.raises(sqlite3.IntegrityError, match="only added"):
        connection.execute(change)
    connection.close()


def test_two_processes_lose_nothing(path: Path) -> None:
    """Two processes add 300 events at once: all are there, batches stay together, everybody reads the same order."""
    asyncio.run(_made(path))
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        for name in ("one", "two")
    ]
    for writer in writers:
        assert writer.stdout
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        writer.communicate("go\n", timeout=60)
    rows = asyncio.run(_read(path))

    assert [writer.returncode for writer in writers] == [0, 0]
    assert len(rows) == 300
    for name in ("one", "two"):
        found = [json.loads(row.event) for row in rows if row.tenant == name]
        assert [(event["k"], event["part"]) for event in found] == [(k, part) for k in range(50) for part in range(3)]
    assert all(len({row.tenant for row in rows[at : at + 3]}) == 1 for at in range(0, 300, 3))


async def _made(path: Path) -> None:
    await (await PoolEvents.open(path)).aclose()


async def _read(path: Path) -> list[EventRow]:
    events = await PoolEvents.open(path)
    try:
        return await events.read()
    finally:
        await events.aclose()


async def test_another_process_is_waited_for(path: Path, events: PoolEvents) -> None:
    """A lock that goes away costs a moment, not the events."""
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    waiting = asyncio.ensure_future(events.append([("t", '"late"')]))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    other.execute("ROLLBACK")
    other.close()
    await waiting
    assert len(await events.read()) == 1


async def test_a_newer_file_is_refused(path: Path) -> None:
    """What a newer version wrote is not guessed at."""
    await _made(path)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version=2")
    connection.close()
    with pytest.raises(StoreError, match="newer version"):
        await PoolEvents.open(path)


def test_a_broken_file_is_refused(path: Path) -> None:
    """A file that is no database says so, and what to do."""
    path.parent.mkdir()
    path.write_bytes(b"no database at all, but long enough to be read as one" * 40)
    with pytest.raises(StoreCorrupt, match="move it away"):
        asyncio.run(PoolEvents.open(path))


async def test_only_the_owner_can_read(path: Path, events: PoolEvents) -> None:
    """File and folder are closed to other users."""
    await events.append([("t", '"one"')])
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()} == {0o600}
