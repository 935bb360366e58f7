"""`taco-gateway env AGENT`: what `run` would set, as lines for a shell."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

import click

from gateway import agents, running
from gateway.commands.options import Refusal, data_option
from gateway.setup import Setup


@click.command("env")
@click.argument("agent")
@click.option(
    "--url", metavar="URL", help="Of the gateway, e.g. http://127.0.0.1:8787.  [default: of the one that runs]"
)
@data_option
def command(agent: str, url: str | None, data: Path) -> None:
    """Print what AGENT needs to go through a gateway that runs: eval "$(taco-gateway env AGENT)"

    Variables are exported; options for its command line, and whatever else has to be done, are comments.
    """
    name = agents.name_of(agent)
    if name not in agents.AGENTS:
        raise Refusal(f"{agent} is not known; known are {', '.join(agents.AGENTS)}. Most others read what qwen needs")
    url = url or running.find(data)
    if url is None:
        raise Refusal(f"no gateway serves {data}: start one with `taco-gateway up`, or pass its --url")
    base = url.rstrip("/").removesuffix("/v1")
    click.echo("\n".join(lines(agent, agents.set_up(name, base, os.environ), base)))


def lines(agent: str, setup: Setup, base: str) -> Iterator[str]:
    """A setup as a shell reads it."""
    for name, value in setup.variables.items():
        yield f"export {name}={shlex.quote(value)}"
    if setup.files:
        yield f"# it needs a file besides, which `taco-gateway run -- {agent}` makes for the time of the run"
    elif setup.options:
        yield f"# start it as: {shlex.join([agent, *setup.options])}"
    if setup.note:
        yield f"# {setup.note}"
    if urls := agents.elsewhere(setup, base):
        yield f"# it was set to {', '.join(urls)}: the gateway has to go there then (--upstream, or config.yaml)"
