"""Something to look at while the memory works."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from typing import Any, TypeVar

import click

from gateway.config import Config
from gateway.remembering.memories import Memory
from memory.L4_raw_sessions.places import RAW, SEALED
from memory.L4_raw_sessions.schedule import status
from memory.roots import raw_folder

T = TypeVar("T")

LOOK = 0.25
"""Seconds between two looks at how far it is."""


def watched(label: str, work: Callable[[], T]) -> T:
    """What the work gives; a terminal is told that it goes on."""
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(work)
        _wait(future, lambda: label)
        return future.result()


def watch_run(memory: Memory, config: Config, dry_run: bool) -> dict[str, Any]:
    """The report of a run; a terminal is shown how many raw logs are done, and the phase."""
    if dry_run or not sys.stderr.isatty():
        return watched("Looking", lambda: memory.run(config, dry_run=dry_run))
    total = _waiting(memory)
    bar: Any = click.progressbar(length=total, label="Archiving", file=sys.stderr, item_show_func=str)
    with ThreadPoolExecutor(1) as pool, bar:
        future = pool.submit(memory.run, config)
        while wait_for([future], LOOK).not_done:
            bar.update(max(total - _waiting(memory) - bar.pos, 0), status(memory.places).phase)
        bar.update(total - bar.pos)
        return future.result()


def _waiting(memory: Memory) -> int:
    folder = raw_folder(memory.root)
    return len({*folder.glob(RAW), *folder.glob(SEALED)})


def _wait(future: Future[Any], label: Callable[[], str]) -> None:
    seconds = 0.0
    while wait_for([future], LOOK).not_done:
        seconds += LOOK
        if sys.stderr.isatty():
            click.echo(f"\r{label()} … {seconds:.0f} s ", err=True, nl=False)
    if seconds and sys.stderr.isatty():
        click.echo("\r\033[K", err=True, nl=False)
