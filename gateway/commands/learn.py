"""`taco-gateway learn`: rules from recorded sessions, each with what it was learned from."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

import click

from gateway.commands.figures import aligned, plural
from gateway.commands.options import Refusal
from gateway.evolving.learning import read_samples
from gateway.recordings import Copies, files_in
from rules_engine import Sample
from rules_engine.evolution.admission import Verdict
from rules_engine.evolution.lessons import learn
from rules_engine.taco import dump

PASSES = 2
"""Times that the files are read."""


@click.command("learn")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", type=click.File("w", encoding="utf-8", atomic=True), help="File for the pool, in TACO's JSON.")
def command(files: Sequence[Path], out: TextIO | None) -> None:
    """Learn rules from recorded sessions: what did agents never go on to use?

    FILES are what `taco-gateway replay` takes, folders among them; each file counts as one source. With --out the admitted
    rules are written as a pool, which `taco-gateway rules import` reads.
    """
    archive = _Archive([path for path, _ in files_in(files)])
    with click.progressbar(
        length=PASSES * archive.size, label="Learning", file=sys.stderr, hidden=not sys.stderr.isatty()
    ) as bar:
        verdicts = learn(lambda: archive.read(bar.update))
    for reason in archive.refused:
        click.echo(f"Left out: {reason}", err=True)
    if not archive.samples:
        raise Refusal("no tool results were found in these files; give recorded sessions with their tool messages")
    if out is not None:
        out.write(dump([verdict.rule for verdict in verdicts if verdict.admitted]))
    click.echo(_describe(archive, verdicts))
    if any(verdict.admitted for verdict in verdicts):
        kept = f"taco-gateway rules import {out.name}" if out else "nothing is kept: --out FILE writes the pool"
        click.echo(f"Put them in use: {kept}", err=True)


class _Archive:
    """Recorded sessions, read as often as need be."""

    def __init__(self, files: Sequence[Path]) -> None:
        self._files = files
        self.size = sum(path.stat().st_size for path in files if path.exists())
        self.refused: dict[str, None] = {}
        """Each reason once, in order."""
        self.sessions: set[tuple[str, str]] = set()
        self.samples = 0

    def read(self, advance: Callable[[int], Any]) -> Iterator[Sample]:
        """All samples, one session in memory at a time."""
        self.samples, copies = 0, Copies()
        for path in self._files:
            before = 0

            def heard(size: int) -> None:
                nonlocal before
                advance(size - before)
                before = size

            for sample in read_samples(path, lambda reason: self.refused.update({reason: None}), heard, copies):
                self.samples += 1
                self.sessions.add((sample.source, sample.session))
                yield sample


def _describe(archive: _Archive, verdicts: Sequence[Verdict]) -> str:
    admitted = sum(verdict.admitted for verdict in verdicts)
    head = f"{plural(archive.samples, 'tool result')} in {plural(len(archive.sessions), 'session')}: "
    head += f"{plural(len(verdicts), 'rule')} mined, {admitted} admitted."
    rows = [(verdict.rule.id, "admitted" if verdict.admitted else "refused", verdict.reason) for verdict in verdicts]
    return "\n".join([head, aligned(rows)] if rows else [head])
