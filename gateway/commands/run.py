"""`taco-gateway run -- AGENT…`: an agent behind the gateway, and what that saved."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import click
import uvloop

from gateway import agents, logs, running
from gateway.commands.archives import ask
from gateway.commands.figures import change, dollars, plural
from gateway.commands.options import Refusal, config_option, data_option, open_folder, read_config
from gateway.commands.up import gateway_at
from gateway.config import Config
from memory import Totals

SETTLE = 5.0
"""Longest wait for a gateway that runs elsewhere to write down what it has served."""
_PASSED_ON = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)
_OF_THE_KEYBOARD = (signal.SIGINT, signal.SIGQUIT)


class NotFound(Refusal):
    """There is no such command."""

    exit_code = 127


class NotExecutable(Refusal):
    """There is such a file, and it cannot be run."""

    exit_code = 126


@click.command("run", context_settings={"allow_interspersed_args": False})
@config_option
@click.option("--upstream", metavar="URL", help="Send everything here, e.g. https://api.openai.com/v1.")
@data_option
@click.argument("agent", nargs=-1, required=True, type=click.UNPROCESSED)
def command(file: Path | None, upstream: str | None, data: Path, agent: tuple[str, ...]) -> None:
    """Run AGENT with its model calls through the gateway, then say what was saved.

    A gateway that serves the data folder already is used; else one is started for as long as the agent runs.
    """
    config = read_config(file, data, upstream)
    url = running.find(open_folder(data))
    if url is not None and (file or upstream):
        raise Refusal(f"a gateway serves this folder at {url} as it was started; stop it, or pass another --data")
    since = time.time()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        code = runner.run(attend(agent, url) if url else _attend_alone(agent, config, data))
    if url is not None:
        _settle(data, since)
    report(ask(data, lambda archive: archive.totals(since)), agent[0], data)
    sys.exit(code)


async def _attend_alone(agent: Sequence[str], config: Config, data: Path) -> int:
    with (data / "run.log").open("w", encoding="utf-8") as file:
        logs.configure(stream=file)  # the terminal is the agent's
        async with gateway_at(config, data, "127.0.0.1", 0) as url:
            return await attend(agent, url)


async def attend(agent: Sequence[str], url: str) -> int:
    """Run an agent to its end with the terminal its own; the value is its exit code, as a shell would give it."""
    if more := agents.known(agent[0]).more:
        click.echo(f"taco-gateway: {agent[0]} does not read OPENAI_BASE_URL: {more.format(url=url)}", err=True)
    environment = {**os.environ, **agents.variables(agent[0], url, os.environ)}
    try:
        process = await asyncio.create_subprocess_exec(*agent, env=environment)
    except OSError as error:
        kind = NotFound if isinstance(error, FileNotFoundError) else NotExecutable
        raise kind(f"{agent[0]} cannot be started: {os.strerror(error.errno or 0)}; is it on the PATH?") from error
    with _passing_signals_to(process):
        code = await process.wait()
    return 128 - code if code < 0 else code


@contextmanager
def _passing_signals_to(process: asyncio.subprocess.Process) -> Iterator[None]:
    loop = asyncio.get_running_loop()

    def pass_on(number: signal.Signals) -> None:
        if number in _OF_THE_KEYBOARD and _is_foreground():
            return  # the terminal has sent it to the agent, too; some agents count
        with suppress(ProcessLookupError):
            process.send_signal(number)

    for number in _PASSED_ON:
        loop.add_signal_handler(number, pass_on, number)
    try:
        yield
    finally:
        for number in _PASSED_ON:
            loop.remove_signal_handler(number)


def _is_foreground() -> bool:
    """Whether the terminal sends its signals to this process."""
    try:
        terminal = os.open(os.ctermid(), os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def _settle(data: Path, since: float) -> None:
    """Wait until the figures stand still: a gateway writes down what it has served a moment later."""
    end, last = time.monotonic() + SETTLE, None
    while time.monotonic() < end:
        now = ask(data, lambda archive: archive.totals(since)).requests
        if now and now == last:
            return
        last = now
        time.sleep(1.0 if now else 0.5)


def report(totals: Totals, agent: str, data: Path) -> None:
    """What was saved, on standard error: the output is the agent's."""
    click.echo(f"\ntaco-gateway: {_summary(totals, agent)}", err=True)
    if totals.rewrites:
        click.echo(f"See every rewrite: taco-gateway audit list --data {data}", err=True)


def _summary(totals: Totals, agent: str) -> str:
    accounts = totals.accounts
    raw, forwarded = (int(str(accounts.get(name, 0))) for name in ("raw_tokens", "forwarded_tokens"))
    if not totals.requests:
        return f"nothing was saved: no request came by. Does {agent} read OPENAI_BASE_URL?"
    if raw <= forwarded:
        return f"nothing was saved in {plural(totals.requests, 'request')}: no tool result could be made shorter without loss."
    saved = f"{raw - forwarded:,} of {raw:,} prompt tokens saved ({change(raw, forwarded)})"
    before, after = accounts.get("cost_raw"), accounts.get("cost_forwarded")
    if isinstance(before, float) and isinstance(after, float):
        saved += f", {dollars(before - after)} of {dollars(before)} at cached prices ({change(before, after)})"
    return f"{saved} in {plural(totals.requests, 'request')}; {plural(totals.rewrites, 'tool result')} rewritten."
