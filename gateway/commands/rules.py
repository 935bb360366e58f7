"""`taco-gateway rules`: the rules in use, in and out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from inspect import getdoc
from pathlib import Path
from typing import TextIO

import click

from gateway.commands.figures import aligned, plural
from gateway.commands.options import Refusal, config_option, data_option, open_folder, read_config
from gateway.errors import ConfigError
from gateway.rules import POOL, load_rules, read_rules, write_rules
from rules_engine import RuleSet
from rules_engine.kinds import LOSSLESS, shown
from rules_engine.taco import dump


@click.group("rules")
def command() -> None:
    """The rules in use."""


@command.command("list")
@config_option
@data_option
def list_rules(file: Path | None, data: Path) -> None:
    """Lossless kinds, which always run, and rules, which run where their trigger matches."""
    head = ("ID", "KIND", "VERSION", "PRIORITY", "STATE", "PROVENANCE")
    click.echo(aligned([head, *_rows(_ruleset(file, data))]))


def _rows(ruleset: RuleSet) -> Iterator[tuple[str, ...]]:
    def state(name: str) -> str:
        return "off" if name in ruleset.settings.disabled else "on"

    for name, version in {**{name: kind.VERSION for name, kind in LOSSLESS.items()}, "shown": shown.VERSION}.items():
        yield name, "lossless", str(version), "-", state(name), "built in"
    for rule in ruleset.rules:
        yield rule.id, rule.kind, str(rule.version), str(rule.priority), state(rule.id), rule.provenance


@command.command("show")
@click.argument("id_", metavar="ID")
@config_option
@data_option
def show(id_: str, file: Path | None, data: Path) -> None:
    """One rule, in TACO's JSON, or what a lossless kind does."""
    rule = next((rule for rule in _ruleset(file, data).rules if rule.id == id_), None)
    if rule is not None:
        click.echo(json.dumps(json.loads(dump([rule]))["general"][0], ensure_ascii=False, indent=2))
        return
    kind: object = {**LOSSLESS, "shown": shown}.get(id_)
    if kind is None:
        raise Refusal(f"no rule has the id {id_}; `taco-gateway rules list` shows them")
    click.echo(getdoc(kind))


@command.command("import")
@click.argument("source", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False))
@data_option
def import_rules(source: Path, data: Path) -> None:
    """Add the rules of a pool in TACO's JSON; one with the id of another replaces it."""
    pool = open_folder(data) / POOL
    try:
        given = {rule.id: rule for rule in read_rules(source)}
        present = {rule.id: rule for rule in read_rules(pool)} if pool.exists() else {}
    except ConfigError as error:
        raise Refusal(error.message) from error
    write_rules(pool, tuple((present | given).values()))
    replaced = len(present.keys() & given.keys())
    click.echo(f"{plural(len(given), 'rule')} imported, {replaced} of them in the place of others.")
    click.echo("They are used by gateways that start from now on, for tool results that they see first.")


@command.command("export")
@click.option(
    "-o", "--output", "output", type=click.File("w", encoding="utf-8", atomic=True), default="-", help="File."
)
@config_option
@data_option
def export(output: TextIO, file: Path | None, data: Path) -> None:
    """The rules in use as a pool in TACO's JSON."""
    output.write(dump(_ruleset(file, data).rules))


def _ruleset(file: Path | None, data: Path) -> RuleSet:
    try:
        return load_rules(read_config(file, data), data)
    except ConfigError as error:
        raise Refusal(error.message) from error
