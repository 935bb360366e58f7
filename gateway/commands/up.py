"""`taco-gateway up`: serve until told to stop."""

from __future__ import annotations

import asyncio
import errno
import gc
import resource
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import click
import uvloop

from gateway import logs, running
from gateway.agents import base_urls
from gateway.app import application
from gateway.commands.options import Refusal, config_option, data_option, open_folder, read_config, with_data
from gateway.config import Config, secret
from gateway.errors import GatewayError
from gateway.network import is_here
from gateway.serving import serving, why_not
from memory import StoreError

_OF_THE_PORT = (errno.EADDRINUSE, errno.EACCES)
GRACE = 10
"""Seconds that requests have to end when the gateway is told to stop."""
DOUBLED = 1.0
"""Seconds in which a second signal is the first one again: who started the gateway passes on what it got itself, too."""
CONNECTIONS = (65_536, 10_240)
"""Files and connections that are asked for, in this order."""
GIVE_WAY = 0.001
"""Seconds after which a thread that counts or archives lets a waiting request go on."""
GARBAGE = (20_000, 20, 50)
"""How seldom Python looks for cycles: what requests leave behind goes by itself."""


@click.command("up")
@config_option
@click.option("--host", help="Address to listen on.  [default: 127.0.0.1, or as configured]")
@click.option(
    "--port", type=click.IntRange(0, 65535), help="Port; 0 for a free one.  [default: 8787, or as configured]"
)
@click.option("--upstream", metavar="URL", help="Send everything here, e.g. https://api.openai.com/v1.")
@data_option
def command(file: Path | None, host: str | None, port: int | None, upstream: str | None, data: Path) -> None:
    """Serve, and print what to paste so that an agent is served."""
    config = read_config(file, data, upstream)
    open_folder(data)
    allow_connections()
    logs.configure()
    host = config.server.host if host is None else host
    port = config.server.port if port is None else port
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(config, data, host, port))


async def _serve(config: Config, data: Path, host: str, port: int) -> None:
    leave = asyncio.Event()
    async with gateway_at(config, data, host, port) as url:
        _leave_on_signals(leave)
        if keys := lent(config, host):
            click.echo(
                f"Whoever reaches {host} uses {', '.join(keys)}: list under 'clients' in config.yaml who may.", err=True
            )
        click.echo("\n".join(f"export {name}={value}" for name, value in base_urls(url).items()))
        click.echo(_next(data), err=True)
        await leave.wait()
        click.echo("Stopping; requests under way have 10 s.", err=True)


def _next(data: Path) -> str:
    """What a person does now, in another terminal."""
    run, stats = with_data("taco-gateway run", data), with_data("taco-gateway stats", data)
    lines = ("taco-gateway serves. Next, in another terminal:", f"{run} -- AGENT", stats)
    return "\n  ".join(lines)


@asynccontextmanager
async def gateway_at(config: Config, data: Path, host: str, port: int) -> AsyncIterator[str]:
    """A gateway that serves and can be found by `run`; the value is its base URL. Refuses with what to do."""
    tune()
    async with AsyncExitStack() as stack:
        try:
            url = await stack.enter_async_context(serving(application(config, data), host, port, GRACE))
        except OSError as error:
            raise _unserved(data, host, port, error) from error
        except RuntimeError as error:
            if isinstance(error.__cause__, GatewayError | StoreError | OSError):
                raise Refusal(f"{error.__cause__}; `taco-gateway doctor` tells more") from error
            raise
        stack.enter_context(running.announced(data, url))
        yield url


def lent(config: Config, host: str) -> list[str]:
    """Variables with keys of ours that others than this machine's may use, whoever they are."""
    if is_here(host) or config.clients:
        return []
    return sorted({upstream.key_env for upstream in config.upstreams if secret(upstream.key_env)})


def allow_connections() -> None:
    """Let this process have as many connections as the system grants: by default it may be no more than 256, and each
    stream takes two. An agent that is started by it would inherit that, so this is for serving only."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    for most in CONNECTIONS:
        wanted = most if hard == resource.RLIM_INFINITY else min(most, hard)
        if soft == resource.RLIM_INFINITY or soft >= wanted:
            return
        with suppress(OSError, ValueError):  # some systems say that there is no limit, and have one
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            return


def tune() -> None:
    """Let nothing in this process hold up a request for long."""
    sys.setswitchinterval(GIVE_WAY)
    gc.freeze()  # what was imported stays; looking through it for garbage took 30 ms each time
    gc.set_threshold(*GARBAGE)


def _unserved(data: Path, host: str, port: int, error: OSError) -> Refusal:
    other = running.find(data)
    note = f"; the gateway of this folder serves at {other}" if other else ""
    remedy = "pass --port 0 for a free one" if error.errno in _OF_THE_PORT else "pass another --host"
    return Refusal(f"cannot listen on {host} port {port}: {why_not(error)}{note}; {remedy}")


def _leave_on_signals(leave: asyncio.Event) -> None:
    """The first signal asks for a graceful end; one after it, which no wrapper sent, ends the process as it always would."""
    loop = asyncio.get_running_loop()
    both = (signal.SIGINT, signal.SIGTERM)

    def stop() -> None:
        if not leave.is_set():
            leave.set()
            loop.call_later(DOUBLED, insist)

    def insist() -> None:
        for name in both:
            loop.remove_signal_handler(name)

    for name in both:
        loop.add_signal_handler(name, stop)
