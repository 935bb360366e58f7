"""`taco-gateway run -- AGENT…`: an agent behind the gateway, and what that saved."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import click
import uvloop

from gateway import agents, logs, running
from gateway.commands.archives import ask
from gateway.commands.figures import change, counted, dollars, plural
from gateway.commands.options import Refusal, config_option, data_option, open_folder, read_config, with_data
from gateway.commands.stats import asked_of_models
from gateway.commands.up import gateway_at
from gateway.config import Config
from gateway.setup import Setup
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
    url = running.find(open_folder(data))
    if url is not None and (file or upstream):
        raise Refusal(f"a gateway serves this folder at {url} as it was started; stop it, or pass another --data")
    config = read_config(file, data, upstream)
    ours = url or f"http://{config.server.host}:{config.server.port}"
    name = agent[agents.place_of(agent)]
    setup = agents.set_up(name, ours, os.environ)
    if url is not None and (urls := agents.elsewhere(setup, ours)):
        click.echo(
            f"taco-gateway: {name} was set to {', '.join(urls)}; the gateway at {url} goes where it was told to",
            err=True,
        )
    own = () if url else tuple(named for named in setup.upstreams if named.url != f"{ours}/v1")
    config = read_config(file, data, upstream, own)
    since = time.time()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        code = runner.run(attend(agent, url) if url else _attend_alone(agent, config, data))
    if url is not None:
        _settle(data, since)
    report(ask(data, lambda archive: archive.totals(since)), name, data)
    sys.exit(code)


async def _attend_alone(agent: Sequence[str], config: Config, data: Path) -> int:
    with (data / "run.log").open("w", encoding="utf-8") as file:
        logs.configure(stream=file)  # the terminal is the agent's
        async with gateway_at(config, data, "127.0.0.1", 0) as url:
            return await attend(agent, url)


async def attend(agent: Sequence[str], url: str) -> int:
    """Run an agent to its end with the terminal its own; the value is its exit code, as a shell would give it."""
    place = agents.place_of(agent)
    setup = agents.set_up(agent[place], url, os.environ)
    if setup.note:
        click.echo(f"taco-gateway: about {agent[place]}: {setup.note}", err=True)
    with _files_of(setup) as folder:
        options = (option.replace("{folder}", folder) for option in setup.options)
        return await _run([*agent[: place + 1], *options, *agent[place + 1 :]], {**os.environ, **setup.variables})


async def _run(command: Sequence[str], environment: Mapping[str, str]) -> int:
    try:
        process = await asyncio.create_subprocess_exec(*command, env=environment)
    except OSError as error:
        kind = NotFound if isinstance(error, FileNotFoundError) else NotExecutable
        raise kind(f"{command[0]} cannot be started: {os.strerror(error.errno or 0)}; is it on the PATH?") from error
    with _passing_signals_to(process):
        code = await process.wait()
    return 128 - code if code < 0 else code


@contextmanager
def _files_of(setup: Setup) -> Iterator[str]:
    """The folder with the files that the agent is told to read, for as long as it runs; nobody else may read them."""
    if not setup.files:
        yield ""
        return
    with TemporaryDirectory(prefix="taco-gateway-") as folder:
        for name, text in setup.files.items():
            file = Path(folder, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        if setup.beside is not None:
            _link(setup.beside, Path(folder))
        yield folder


def _link(source: Path, folder: Path) -> None:
    """Links in `folder` to everything in `source` that is not there already."""
    for entry in source.iterdir():
        here = folder / entry.name
        if not here.exists():
            here.symlink_to(entry.absolute())
        elif here.is_dir():
            _link(entry, here)


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
        for number in _OF_THE_KEYBOARD:
            signal.signal(number, signal.SIG_IGN)  # meant for the agent, which has ended; what is left takes a moment


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
        click.echo(f"See every rewrite: {with_data('taco-gateway audit list', data)}", err=True)


def _summary(totals: Totals, agent: str) -> str:
    accounts = totals.accounts
    raw, forwarded = (int(str(accounts.get(name, 0))) for name in ("raw_tokens", "forwarded_tokens"))
    requests = plural(asked_of_models(totals), "request")
    if not totals.requests:
        return f"nothing was saved: no request came by. Does {agent} read the variables that `taco-gateway env` prints?"
    if not asked_of_models(totals):
        return f"nothing was saved: none of the {plural(totals.requests, 'request')} that came by was to a model."
    if set(totals.outcomes) == {"failed"}:
        return (
            f"nothing was saved: {requests}, and none was answered well; `taco-gateway doctor` looks for what is wrong."
        )
    if raw <= forwarded:
        why = f"tool results stay as they came ({counted(totals.kept)})" if totals.kept else "there was no tool result"
        return f"nothing was saved in {requests}: {why}."
    saved = f"{raw - forwarded:,} of {raw:,} prompt tokens saved ({change(raw, forwarded)})"
    before, after = accounts.get("cost_raw"), accounts.get("cost_forwarded")
    if isinstance(before, float) and isinstance(after, float):
        saved += f", {dollars(before - after)} of {dollars(before)} at cached prices ({change(before, after)})"
    return f"{saved} in {requests}; {plural(totals.rewrites, 'tool result')} rewritten."
