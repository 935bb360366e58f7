"""The command line: `taco-gateway COMMAND`."""

from __future__ import annotations

import errno
import sys
from importlib import import_module

import click

from gateway.commands import COMMANDS


class Commands(click.Group):
    """Imports a command only when it is called, so that none waits for what another needs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"gateway.commands.{cmd_name}").command
        return command

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; a file or a folder that cannot be used is told in one line, and so is a system that lacks much."""
        if sys.platform == "win32":  # no locks between processes, no uvloop, no signals that are passed on
            raise click.ClickException("it runs on Linux and macOS; on Windows install it inside WSL, with the agent")
        try:
            return super().invoke(ctx)
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise
            where = f"{error.filename}: " if error.filename else ""
            raise click.ClickException(f"{where}{error.strerror or error}; look for rights and room there") from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table as it is: help must not import every command."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="taco-gateway", prog_name="taco-gateway")
def main() -> None:
    """A gateway between an agent and its model that makes tool results cost less and loses nothing.

    Start the agent with `taco-gateway run -- AGENT`, or serve with `up` and point the agent there with `env AGENT`.
    """


if __name__ == "__main__":
    main(prog_name="taco-gateway")
