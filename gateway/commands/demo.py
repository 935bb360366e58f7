"""`taco-gateway demo`: a recorded session through a real gateway, to a scripted model: no key, no network."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator
from contextlib import AsyncExitStack, contextmanager
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import ProxyHandler, Request, build_opener

import click
import uvloop

from gateway import logs
from gateway.app import application
from gateway.commands.archives import ask
from gateway.commands.diffs import diff, heading, visible
from gateway.commands.figures import WIDTH, plural, told
from gateway.commands.options import open_folder
from gateway.commands.stats import describe_totals
from gateway.config import load
from gateway.demo import recorded, scenario_of
from gateway.providers.scripted import Scripted
from gateway.recordings import Session
from gateway.serving import serving
from memory import Archive, RewriteRow

LINES = 4
"""Of one run in a diff that are shown."""


@click.command("demo")
@click.option("--data", type=click.Path(path_type=Path), help="Keep what is recorded here.  [default: nothing is kept]")
def command(data: Path | None) -> None:
    """Take a session that was recorded from a real agent through the gateway, and show what that saves."""
    session = recorded()
    with _folder(data) as folder, (folder / "demo.log").open("w", encoding="utf-8") as file:
        logs.configure(stream=file)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_play(session, folder))
        click.echo(
            f"A session of mini-swe-agent, {len(session.turns)} requests, to a scripted model in the place of {session.model}."
        )
        _show_one(ask(folder, _rewrites))
        click.echo(f"\n{told(describe_totals(ask(folder, lambda archive: archive.totals())))}")
    click.echo("\nNow with your own agent: taco-gateway run -- AGENT")


@contextmanager
def _folder(data: Path | None) -> Iterator[Path]:
    if data is not None:
        yield open_folder(data)
        return
    with TemporaryDirectory(prefix="taco-demo-") as folder:
        yield Path(folder)


async def _play(session: Session, folder: Path) -> None:
    async with AsyncExitStack() as stack:
        upstream = await stack.enter_async_context(serving(Scripted(scenario_of(session))))
        gateway = application(load(None, upstream=f"{upstream}/v1"), folder)
        url = await stack.enter_async_context(serving(gateway))
        for at in session.turns:
            body = {"model": session.model, "messages": session.messages[:at]}
            await asyncio.to_thread(_post, f"{url}/v1/chat/completions", body)


def _post(url: str, body: object) -> None:
    request = Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    with build_opener(ProxyHandler({})).open(request, timeout=30) as answer:
        answer.read()


async def _rewrites(archive: Archive) -> list[RewriteRow]:
    return [row for short in await archive.rewrites(100) if (row := await archive.rewrite(short.id)) is not None]


def _show_one(rows: list[RewriteRow]) -> None:
    """The rewrite that saved the most."""
    row = max(rows, key=lambda row: row.tokens_before - row.tokens_after, default=None)
    if row is None or row.texts is None:
        return
    click.echo(f"\nOne of {plural(len(rows), 'rewrite')}, as the audit has it: {visible(row.texts.command)}")
    click.echo(f"{heading(row)}\n")
    for line in _shortened(diff(row.texts.before, row.texts.after, WIDTH)):
        click.echo(line)


def _shortened(lines: Iterable[str]) -> Iterator[str]:
    """A diff of which the middle of each long run is left out."""
    for _, run in groupby(lines, key=lambda line: click.unstyle(line)[:1]):
        listed = list(run)
        if len(listed) > LINES:
            listed[LINES // 2 : -LINES // 2] = [f"  … {len(listed) - LINES} more lines of the diff …"]
        yield from listed
