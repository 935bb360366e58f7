"""`taco-gateway doctor`: what is wrong with this installation, and what to do about it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import click

from gateway import checkup
from gateway.checkup import Finding
from gateway.commands.figures import plural
from gateway.commands.options import Refusal, config_option, data_option, read_config, with_data

_COLOURS = {"ok": "green", "note": "yellow", "wrong": "red"}


@click.command("doctor")
@config_option
@data_option
def command(file: Path | None, data: Path) -> None:
    """Check installation, configuration and data; exit code 1 if something is wrong. No key is printed."""
    wrong = 0
    for finding in _findings(file, data):
        wrong += finding.state == "wrong"
        state = click.style(finding.state.ljust(5), fg=_COLOURS[finding.state])
        click.echo(f"{state}  {finding.what:9}  {finding.says}")
    if wrong:
        click.echo(f"{plural(wrong, 'thing')} to mend: see above.", err=True)
        click.get_current_context().exit(1)
    click.echo(f"All is well. Next: {with_data('taco-gateway run', data)} -- AGENT", err=True)


def _findings(file: Path | None, data: Path) -> Iterator[Finding]:
    yield from checkup.check_installation()
    yield checkup.check_agents()
    yield from checkup.check_folder(data)
    yield checkup.check_pins(data)
    yield asyncio.run(checkup.check_archive(data))
    try:
        config = read_config(file, data)
    except Refusal as error:
        yield Finding("wrong", "config", error.message)
        return
    yield Finding("ok", "config", f"{len(config.upstreams)} upstreams")
    yield asyncio.run(checkup.check_rules(config, data))
    yield from checkup.check_config(config)
    yield checkup.check_gateway(config, data)
