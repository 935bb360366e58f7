"""Help of commands that have commands of their own."""

from __future__ import annotations

import click
from click.testing import CliRunner

from gateway.commands.groups import Group


@click.group(cls=Group)
def zoo() -> None:
    """Animals."""


@zoo.command()
def wolf() -> None:
    """Says what no wolf says: a sentence that is much too long for the one line that is usually left for it. And more."""


@zoo.command()
def ant() -> None:
    """Says nothing."""


def test_each_is_told_in_whole_and_in_order() -> None:
    """The first sentence stands there to its end, and the order is that of the code."""
    out = " ".join(CliRunner().invoke(zoo, ["--help"]).stdout.split())
    assert "usually left for it. ant Says nothing." in out
    assert "And more" not in out
