"""Python processes of our own beside this one: started when they are needed, told what to do over a pipe, gone with us.

A process reads calls from its standard input and answers on its standard output; `gateway.worker` is its side. When this
process dies, however it dies, the pipe ends, and the other process with it.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import struct
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ParamSpec, Self, TypeVar

from gateway.recording.entries import Entry, Report

P = ParamSpec("P")
T = TypeVar("T")

LENGTH = struct.Struct("<Q")
LEAVING = 10.0
"""Seconds that a process has to come to its end when nothing more is asked of it."""

PATIENCE = 120.0
"""Seconds that a batch may take."""

_ROOT = Path(__file__).parents[1]
_KEPT = frozenset({"PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TZ", "LD_LIBRARY_PATH", "TIKTOKEN_CACHE_DIR"})
"""Variables that are handed on: those of the user may hold keys, and such a process needs none."""
_SPARING = {"MALLOC_ARENA_MAX": "1", "MALLOC_TRIM_THRESHOLD_": "1000000"}


class ProcessLost(Exception):
    """The process could not be started, or died before it answered."""


class Process:
    """One process of ours."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls, *arguments: str) -> Self:
        """Start `gateway.worker` with these arguments. Raises `ProcessLost`."""
        environment = {name: value for name, value in os.environ.items() if name in _KEPT} | _SPARING
        environment["PYTHONPATH"] = str(_ROOT)
        try:
            # -P: a folder that this process happens to stand in must not give it its modules
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "gateway.worker", *arguments),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                env=environment,
            )
        except OSError as error:
            raise ProcessLost(f"no process could be started: {error}") from error
        return cls(process)

    @property
    def pid(self) -> int:
        """Its id."""
        return self._process.pid

    async def call(self, question: object) -> Any:
        """Ask, and wait for the answer. One call at a time. Raises `ProcessLost`."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        data = pickle.dumps(question, pickle.HIGHEST_PROTOCOL)
        try:
            self._process.stdin.write(LENGTH.pack(len(data)))
            self._process.stdin.write(data)
            await self._process.stdin.drain()
            (size,) = LENGTH.unpack(await self._process.stdout.readexactly(LENGTH.size))
            return pickle.loads(await self._process.stdout.readexactly(size))
        except (OSError, RuntimeError, asyncio.IncompleteReadError) as error:  # RuntimeError: uvloop, at a closed pipe
            raise ProcessLost(f"process {self.pid} ended before it answered") from error

    async def stop(self) -> None:
        """Let it end, and see to it that it does."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            async with asyncio.timeout(LEAVING):
                await self._process.wait()
        except TimeoutError:
            await self.kill()

    async def kill(self) -> None:
        """End it now."""
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()


class Worker:
    """The books, kept by a process that is started with the first batch and again after it was lost."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._process: Process | None = None

    async def take(self, entries: Sequence[Entry]) -> Report:
        """Have them recorded. Raises `ProcessLost` if nobody can tell what became of them."""
        if self._process is None:
            self._process = await Process.start("books", str(self._data))
        try:
            async with asyncio.timeout(PATIENCE):
                report: Report = await self._process.call(entries)
                return report
        except BaseException as error:
            process, self._process = self._process, None
            await asyncio.shield(process.kill())
            if isinstance(error, TimeoutError):
                raise ProcessLost(f"process {process.pid} did not answer within {PATIENCE:g} s") from error
            raise

    @property
    def pid(self) -> int | None:
        """Id of the process, while there is one."""
        return self._process.pid if self._process else None

    async def aclose(self) -> None:
        """Let the process end."""
        if self._process is not None:
            await self._process.stop()
            self._process = None


async def run(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a function of a module in a process that gives way to all others, and is gone afterwards.

    What it is given and what it gives is copied. Raises what the function raises, and `ProcessLost`.
    """
    process = await Process.start("job")
    try:
        value, error = await process.call((function, args, kwargs))
    except BaseException:
        await asyncio.shield(process.kill())
        raise
    await process.stop()
    if error is not None:
        raise error
    result: T = value
    return result
