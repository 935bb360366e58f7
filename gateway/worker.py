"""The other side of `gateway.processes`: `python -m gateway.worker books DATA`, or `job`; it ends with its standard input."""

from __future__ import annotations

import asyncio
import gc
import os
import pickle
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any, BinaryIO

from gateway.processes import LENGTH

COURTESY = 10
"""How far a job steps back behind everybody else."""

GARBAGE = (20_000, 20, 50)
"""How seldom Python looks for cycles: what a batch leaves behind goes by itself."""


def main() -> None:
    """Answer calls until nobody can ask any more."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # they are meant for the gateway, which says when there is no more to do
    calls = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not stand among the answers
    if sys.argv[1] == "job":
        _do_one_job(calls, answers)
    else:
        _keep_books(Path(sys.argv[2]), calls, answers)


def _do_one_job(calls: BinaryIO, answers: BinaryIO) -> None:
    os.nice(COURTESY)
    question = _read(calls)
    if question is None:
        return
    # a job may take long, and nobody waits for it any more once the pipe has ended
    Thread(target=lambda: calls.read(1) or os._exit(1), daemon=True).start()
    _write(answers, _work(*question))


def _work(
    function: Callable[..., object], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[object, Exception | None]:
    try:
        return function(*args, **kwargs), None
    except Exception as error:
        return None, error


def _keep_books(data: Path, calls: BinaryIO, answers: BinaryIO) -> None:
    from gateway.recording.books import Bookkeeper  # a job needs none of it
    from gateway.recording.ledger import Ledger
    from gateway.recording.prices import PriceBook
    from gateway.recording.tokens import TokenCounter
    from memory import Archive, Logged, RawLog, Spill
    from memory.spill import FOLDER

    with asyncio.Runner() as runner:
        archive, spill = runner.run(Archive.open(data)), Spill(data / FOLDER)
        kept = Logged(archive, RawLog(data))
        books = Bookkeeper(Ledger(TokenCounter(), PriceBook()), kept, spill, time.monotonic, archive.left_off)
        gc.freeze()
        gc.set_threshold(*GARBAGE)
        while (entries := _read(calls)) is not None:
            _write(answers, runner.run(books.take(entries)))
        spill.close()
        runner.run(archive.aclose())


def _read(calls: BinaryIO) -> Any:
    """The next question; `None` at the end."""
    head = calls.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (size,) = LENGTH.unpack(head)
    data = calls.read(size)
    return pickle.loads(data) if len(data) == size else None


def _write(answers: BinaryIO, value: object) -> None:
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    try:
        answers.write(LENGTH.pack(len(data)) + data)
        answers.flush()
    except BrokenPipeError:
        os._exit(1)  # nobody listens any more


if __name__ == "__main__":
    main()
