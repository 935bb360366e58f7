"""Processes of our own: they work, die, come again, and none is left behind."""

from __future__ import annotations

import asyncio
import operator
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gateway import processes
from gateway.exchange import Exchange
from gateway.processes import Process, ProcessLost, Worker, run
from gateway.recording.entries import Entry, Report
from gateway.recording.handover import Handover
from gateway.recording.recorder import Recorder
from gateway.running import is_alive
from memory import Archive

PATIENCE = 20.0


def entries(*ids: str) -> list[Entry]:
    """Entries of exchanges with these names."""
    handover = Handover()
    return [handover.entry(Exchange(id=name, method="POST", path="/", started=0.0)) for name in ids]


@asynccontextmanager
async def working(folder: Path) -> AsyncIterator[Worker]:
    """A worker of this data folder."""
    worker = Worker(folder)
    yield worker
    await worker.aclose()


async def stored(folder: Path) -> set[str]:
    """Names of the exchanges in the archive."""
    archive = await Archive.open(folder)
    rows = await archive._rows("SELECT id FROM exchanges")
    await archive.aclose()
    return {name for (name,) in rows}


async def until_dead(pid: int) -> None:
    """Return once there is no such process."""
    async with asyncio.timeout(PATIENCE):
        while is_alive(pid):  # noqa: ASYNC110 - the death of a stranger's child is not told
            await asyncio.sleep(0.02)


async def test_nothing_is_started_before_it_is_needed(tmp_path: Path) -> None:
    """And a worker that never worked ends at once."""
    async with working(tmp_path) as worker:
        assert worker.pid is None


async def test_a_worker_records_in_a_process_of_its_own(tmp_path: Path) -> None:
    """Which ends when it is told to."""
    async with working(tmp_path) as worker:
        report = await worker.take(entries("a", "b"))
        pid = worker.pid
        assert pid not in (None, os.getpid())
        await worker.take(entries("c"))
        assert worker.pid == pid

    assert (report.recorded, report.problem) == (2, None)
    assert not is_alive(pid or 0)
    assert await stored(tmp_path) == {"a", "b", "c"}


async def test_signals_of_the_terminal_are_not_for_the_worker(tmp_path: Path) -> None:
    """Ctrl-C reaches the whole group; what waits is recorded all the same."""
    async with working(tmp_path) as worker:
        await worker.take(entries("a"))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(worker.pid or 0, number)
        assert (await worker.take(entries("b"))).recorded == 1


async def test_a_worker_that_was_killed_is_missed_and_comes_again(tmp_path: Path) -> None:
    """Whoever asked is told; the next batch finds another."""
    async with working(tmp_path) as worker:
        await worker.take(entries("a"))
        first = worker.pid or 0
        os.kill(first, signal.SIGKILL)
        with pytest.raises(ProcessLost):
            await worker.take(entries("b"))
        assert (await worker.take(entries("c"))).recorded == 1
        assert worker.pid != first

    assert await stored(tmp_path) == {"a", "c"}


async def test_no_exchange_is_lost_with_a_worker(tmp_path: Path) -> None:
    """The recorder hands over again what was in its hands, and counts."""
    async with working(tmp_path) as worker:
        recorder = Recorder(worker, _Nobody(), 100, time.monotonic)
        task = asyncio.ensure_future(recorder.run())
        for name in "abcdef":
            recorder.offer(Exchange(id=name, method="POST", path="/", started=0.0))
            if name in "bd":
                await recorder.drain()
                os.kill(worker.pid or 0, signal.SIGKILL)
        recorder.stop()
        await asyncio.wait_for(task, PATIENCE)

    assert await stored(tmp_path) == {*"abcdef"}
    assert (recorder.counters.recorded, recorder.counters.restarts, recorder.problem) == (6, 2, None)


async def test_a_worker_that_does_not_answer_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its batch is missed like one that died."""
    async with working(tmp_path) as worker:
        await worker.take(entries("a"))
        pid = worker.pid or 0
        os.kill(pid, signal.SIGSTOP)
        monkeypatch.setattr(processes, "PATIENCE", 0.05)
        with pytest.raises(ProcessLost, match="did not answer"):
            await worker.take(entries("b"))
        assert not is_alive(pid)


async def test_no_worker_outlives_its_gateway(tmp_path: Path) -> None:
    """However the gateway dies."""
    script = (
        "import asyncio, sys\n"
        "from gateway.processes import Process\n"
        "async def main():\n"
        "    process = await Process.start('books', sys.argv[1])\n"
        "    print(process.pid, flush=True)\n"
        "    await asyncio.sleep(600)\n"
        "asyncio.run(main())\n"
    )
    gateway = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", script, str(tmp_path)), stdout=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[2]
    )
    assert gateway.stdout is not None
    pid = int(await gateway.stdout.readline())
    assert is_alive(pid)
    gateway.kill()
    await gateway.wait()

    await until_dead(pid)


async def test_nothing_of_the_environment_but_what_is_needed_is_handed_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A key that the gateway was started with does not stand in another process, nor on a command line."""
    monkeypatch.setenv("SOME_API_KEY", "hunter2")
    process = await Process.start("books", str(tmp_path))
    while not (seen := _seen(process.pid))[0]:  # noqa: ASYNC110 - that a program has begun is not told
        await asyncio.sleep(0.01)
    await process.stop()

    assert b"PYTHONPATH" in seen[0]
    assert b"SOME_API_KEY" not in seen[0]
    assert b"hunter2" not in b"".join(seen)


async def test_a_job_is_run_elsewhere() -> None:
    """With all that it was given; it steps back behind everybody else."""
    assert await run(operator.add, "a", "b") == "ab"
    assert await run(os.getpid) != os.getpid()
    assert await run(os.nice, 0) >= 10


async def test_a_job_that_fails_says_so() -> None:
    """With what it raised; one that dies is missed."""
    with pytest.raises(ZeroDivisionError):
        await run(operator.truediv, 1, 0)
    with pytest.raises(ProcessLost):
        await run(os._exit, 3)


async def test_a_job_that_nobody_waits_for_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its process is gone before the cancelling is."""
    started: list[int] = []
    start = Process.start

    async def noted(*arguments: str) -> Process:
        process = await start(*arguments)
        started.append(process.pid)
        return process

    monkeypatch.setattr(Process, "start", noted)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await run(time.sleep, 600)

    assert not is_alive(started[0])


async def test_no_job_outlives_its_gateway() -> None:
    """Even one that would take hours."""
    process = await Process.start("job")
    asked = asyncio.ensure_future(process.call((time.sleep, (600,), {})))
    await asyncio.sleep(0.5)
    assert process._process.stdin is not None
    process._process.stdin.close()  # as it is when the gateway dies
    with pytest.raises(ProcessLost):
        await asyncio.wait_for(asked, PATIENCE)
    await process.kill()


async def test_what_cannot_be_started_is_lost(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Like what died."""
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nothing"))
    with pytest.raises(ProcessLost, match="no process"):
        await run(os.getpid)


def _seen(pid: int) -> list[bytes]:
    """What others see of a process: its environment and its command line."""
    return [Path(f"/proc/{pid}/{name}").read_bytes() for name in ("environ", "cmdline")]


class _Nobody:
    """A reserve that must not be needed."""

    async def take(self, entries: Sequence[Entry]) -> Report:
        """It is not."""
        raise AssertionError
