"""What the store could not take: written at once, replayed once, lost never."""

from __future__ import annotations

import dataclasses
import errno
import os
import signal as signals
import stat
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from memory import Archive, ExchangeRecord, Message, RewriteRecord, Spill, StoreError
from memory.spill import _encode

Chain = Callable[..., tuple[Message, ...]]
Record = Callable[..., ExchangeRecord]

HOLDER = """
import pathlib, sys, time
from memory import Spill
from memory.spill import _decode
spill = Spill(pathlib.Path(sys.argv[1]))
for line in sys.stdin.buffer:
    spill.append(_decode(line.strip()))
    print("written", flush=True)
time.sleep(60)
"""

LIMIT = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
"""


def hold(folder: Path, script: str) -> subprocess.Popen[bytes]:
    """Start a process that spills what it is given, and then lives on."""
    pipe = subprocess.PIPE
    arguments = [sys.executable, "-c", script, str(folder)]
    return subprocess.Popen(arguments, stdin=pipe, stdout=pipe, stderr=pipe, cwd=Path(__file__).parents[2])


class Taker:
    """Takes what is replayed; fails where it is told to."""

    def __init__(self, fail_at: int | None = None) -> None:
        self.taken: list[ExchangeRecord] = []
        self.fail_at = fail_at

    async def __call__(self, records: Sequence[ExchangeRecord]) -> None:
        """Take a batch."""
        if self.fail_at is not None and len(self.taken) >= self.fail_at:
            raise StoreError("the store is gone")
        self.taken += records

    @property
    def ids(self) -> list[str]:
        """What was taken, in order."""
        return [record.id for record in self.taken]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the files are to be."""
    return tmp_path / "spill"


@pytest.fixture
def spill(folder: Path) -> Spill:
    """An empty spill."""
    return Spill(folder)


async def test_nothing_spilled(spill: Spill, folder: Path) -> None:
    """Where nothing was spilled there is nothing to replay, and no file."""
    assert await spill.replay(Taker()) == 0
    spill.close()
    assert os.listdir(folder.parent) == []


async def test_replayed_once(
    spill: Spill, folder: Path, chain: Chain, record: Record, rewrite: Callable[..., RewriteRecord]
) -> None:
    """Records come back as they were, in order, and then the file is gone."""
    made = [record(str(k), chain(f"message {k}"), rewrites=(rewrite(),), reported=None) for k in range(50)]
    for one in made:
        spill.append(one)
    taker = Taker()
    assert await spill.replay(taker) == 50
    assert taker.taken == made
    assert os.listdir(folder) == []
    assert await spill.replay(taker) == 0


async def test_redacted(spill: Spill, chain: Chain, record: Record) -> None:
    """The file is a place where things are written: no secret gets into it."""
    spill.append(record("1", chain("password=hunter2"), error="\ud800 password=hunter2"))
    taker = Taker()
    await spill.replay(taker)
    assert "hunter2" not in repr(taker.taken)
    assert taker.taken[0].error == "\\ud800 password=[redacted:password]"


async def test_sessions_are_whole_by_themselves(spill: Spill, chain: Chain, record: Record) -> None:
    """What two sessions have in common is there for each of them: their raw logs are written one by one."""
    history = chain("one", "two")
    spill.append(record("1", history[:1], session="a"))
    spill.append(record("2", history, session="b"))
    spill.append(record("3", history, session="a"))
    taker = Taker()
    await spill.replay(taker)
    assert [[bool(message.content) for message in one.messages] for one in taker.taken] == [
        [True],
        [True, True],
        [False, True],
    ]


async def test_a_history_is_written_once(
    spill: Spill, folder: Path, archive: Archive, chain: Chain, record: Record
) -> None:
    """A session of many turns does not write its beginning with every turn; the archive gets all of it."""
    history = chain(*(os.urandom(500).hex() for _ in range(60)))
    for k in range(1, 61):
        spill.append(record(str(k), history[:k]))
    (name,) = os.listdir(folder)
    assert os.stat(folder / name).st_size < 60 * 3000
    assert await spill.replay(archive.append) == 60
    assert await archive.chain(history[-1].hash) == history


async def test_store_that_fails_again(spill: Spill, record: Record) -> None:
    """What the store does not take stays, and comes again from the beginning."""
    for k in range(50):
        spill.append(record(str(k)))
    taker = Taker(fail_at=20)
    with pytest.raises(StoreError, match="gone"):
        await spill.replay(taker)
    spill.append(record("50"))
    taker = Taker()
    assert await spill.replay(taker) == 51
    assert taker.ids == [str(k) for k in range(51)]


async def test_torn_last_line(spill: Spill, folder: Path, record: Record) -> None:
    """A line that a crash has torn was never acknowledged: those before it are replayed."""
    for k in range(3):
        spill.append(record(str(k)))
    spill.close()
    (name,) = os.listdir(folder)
    data = (folder / name).read_bytes()
    (folder / name).write_bytes(data[:-10])
    taker = Taker()
    assert await spill.replay(taker) == 2
    assert taker.ids == ["0", "1"]
    assert os.listdir(folder) == []


@pytest.mark.parametrize(
    "line", [b"2:newer\n", b"1:!!!\n", b"1:AAAA\n", b"\n"], ids=["newer", "no base64", "no zlib", "empty"]
)
async def test_line_that_cannot_be_read(spill: Spill, folder: Path, record: Record, line: bytes) -> None:
    """A whole line that this version cannot read costs no other, and its file is kept for a person to look at."""
    spill.append(record("1"))
    spill.close()
    (name,) = os.listdir(folder)
    (folder / name).write_bytes(line + (folder / name).read_bytes())
    taker = Taker()
    assert await spill.replay(taker) == 1
    assert taker.ids == ["1"]
    assert os.listdir(folder) == [f"{name}.unread"]
    assert await spill.replay(taker) == 0


async def test_disk_that_is_full(spill: Spill, folder: Path, record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    """A record that does not fit is refused whole, and spoils neither the one before nor the one after."""
    spill.append(record("1"))
    write = os.write

    def write_half(file: int, data: bytes) -> int:
        return write(file, data[: len(data) // 2])

    monkeypatch.setattr(os, "write", write_half)
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        spill.append(record("2"))
    monkeypatch.undo()
    spill.append(record("3"))
    taker = Taker()
    assert await spill.replay(taker) == 2
    assert taker.ids == ["1", "3"]


def test_limit_on_file_size(folder: Path, record: Record) -> None:
    """The same with a real limit: nothing of the record is left in the file."""
    process = hold(folder, LIMIT + HOLDER)
    _, errors = process.communicate(_encode(record("1")))
    assert b"OSError" in errors
    assert [path.stat().st_size for path in folder.iterdir()] == [0]


async def test_file_of_a_living_process_is_left_alone(folder: Path, spill: Spill, record: Record) -> None:
    """While its process lives a file is not touched; when it was killed, another replays it."""
    holder = hold(folder, HOLDER)
    try:
        assert holder.stdin is not None
        assert holder.stdout is not None
        holder.stdin.write(_encode(record("theirs")))
        holder.stdin.flush()
        assert holder.stdout.readline() == b"written\n"
        spill.append(record("ours"))
        taker = Taker()
        assert await spill.replay(taker) == 1
        assert taker.ids == ["ours"]
    finally:
        os.kill(holder.pid, signals.SIGKILL)
        holder.communicate()
    assert await spill.replay(taker) == 1
    assert taker.ids == ["ours", "theirs"]


async def test_two_that_replay_at_once(folder: Path, record: Record) -> None:
    """A file is replayed by one of those who find it."""
    first, second = Spill(folder), Spill(folder)
    first.append(record("1"))
    inner: list[int] = []

    async def take(records: Sequence[ExchangeRecord]) -> None:
        inner.append(await second.replay(Taker()))

    assert await first.replay(take) == 1
    assert inner == [0]


async def test_only_the_owner_can_read(spill: Spill, folder: Path, record: Record) -> None:
    """Folder and file are closed to other users."""
    spill.append(record("1"))
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    assert {stat.S_IMODE(os.stat(folder / name).st_mode) for name in os.listdir(folder)} == {0o600}
    spill.close()


async def test_records_come_back_whole(spill: Spill, chain: Chain, record: Record) -> None:
    """Every field survives the file."""
    made = record("1", chain("é \U0001f600"), reply=chain("x")[0], first_byte=None, kept={"short": 3}, retry=True)
    spill.append(made)
    taker = Taker()
    await spill.replay(taker)
    assert dataclasses.asdict(taker.taken[0]) == dataclasses.asdict(made)
