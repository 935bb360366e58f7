"""Groups of commands whose help says in whole what each is for, in the order in which they are written."""

from __future__ import annotations

import click

_WHOLE = 1000


class Group(click.Group):
    """A command that has commands of its own."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in order."""
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The first sentence of each: click would cut it to fit one line."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, each.get_short_help_str(_WHOLE)) for name, each in self.commands.items()])
