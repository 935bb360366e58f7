"""`taco-gateway audit`: every rewrite, before and after."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import TextIO

import click

from gateway.commands.archives import ask
from gateway.commands.diffs import diff, heading, visible
from gateway.commands.figures import aligned, plural
from gateway.commands.groups import Group
from gateway.commands.options import Refusal, data_option
from memory import Archive, RewriteRow


@click.group("audit", cls=Group)
def command() -> None:
    """Every rewrite on record: what the agent sent, what was forwarded, and why."""


@command.command("list")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="So many, the newest first.")
@click.option("--session", metavar="ID", help="Of one session only.")
@data_option
def list_rewrites(limit: int, session: str | None, data: Path) -> None:
    """The newest rewrites."""
    rows = ask(data, lambda archive: archive.rewrites(limit, session))
    if not rows:
        click.echo("Nothing was rewritten yet.", err=True)
    else:
        click.echo(aligned([("ID", "TIME", "TOOL", "TOKENS", "RULES"), *map(_line, rows)]))


def _line(row: RewriteRow) -> tuple[str, str, str, str, str]:
    time = f"{datetime.fromtimestamp(row.time):%Y-%m-%d %H:%M:%S}"
    tokens = f"{row.tokens_before:,} → {row.tokens_after:,}"
    return row.id, time, visible(row.tool) or "-", tokens, ", ".join(name for name, _ in row.rules)


@command.command("show")
@click.argument("id_", metavar="ID")
@data_option
def show(id_: str, data: Path) -> None:
    """One rewrite as a diff."""
    row = ask(data, lambda archive: archive.rewrite(id_))
    if row is None:
        raise Refusal(f"no rewrite has the id {id_}; `taco-gateway audit list` shows them")
    facts = [
        ("Request", row.exchange),
        ("Session", row.session),
        ("Time", f"{datetime.fromtimestamp(row.time):%Y-%m-%d %H:%M:%S}"),
        ("Tool", visible(row.tool) or "none: terminal output in a user message"),
        ("Command", visible(row.texts.command).replace("\n", "⏎") if row.texts else "forgotten"),
        ("Rewritten", heading(row)),
        ("Sealed", row.digest),
    ]
    click.echo(aligned(facts) + "\n")
    if row.texts is None:
        click.echo("The texts were forgotten; the seal stays.")
        return
    for line in diff(row.texts.before, row.texts.after):
        click.echo(line)


@command.command("verify")
@data_option
def verify(data: Path) -> None:
    """Check that nothing on record was changed; exit code 1 if something was."""
    report = ask(data, lambda archive: archive.verify())
    for problem in report.problems:
        click.echo(problem)
    found = plural(len(report.problems), "problem") if report.problems else "all as they were recorded"
    click.echo(f"{plural(report.rewrites, 'rewrite')}, {plural(report.messages, 'message')}: {found}.")
    click.echo(f"Last seal: {report.head} (written down elsewhere, it shows that no row was cut off the end)")
    if report.problems:
        click.get_current_context().exit(1)


@command.command("export")
@click.option(
    "-o", "--output", "output", type=click.File("w", encoding="utf-8", atomic=True), default="-", help="File."
)
@data_option
def export(output: TextIO, data: Path) -> None:
    """All rewrites as JSON lines, the oldest first, redacted as they are stored."""

    async def write(archive: Archive) -> None:
        async for row in archive.export_rewrites():
            output.write(json.dumps(row) + "\n")

    ask(data, write)
