"""`taco-gateway rules`: the rules in use, what became of each, and the operator's hand on them."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from difflib import unified_diff
from inspect import getdoc
from pathlib import Path
from typing import Any, TextIO, TypeVar

import click

from gateway.commands.archives import ask
from gateway.commands.diffs import visible
from gateway.commands.figures import aligned, plural
from gateway.commands.groups import Group
from gateway.commands.options import Refusal, config_option, data_option, open_folder, read_config
from gateway.errors import ConfigError
from gateway.evolving.pools import SHARED
from gateway.evolving.rules import all_live, change_pool, read_pools, read_rules
from gateway.evolving.why import why
from memory import StoreError
from rules_engine import Rule
from rules_engine.evolution.events import EventName
from rules_engine.evolution.pool import Entry, Pool, PoolEvent, by_hand, imports
from rules_engine.kinds import LOSSLESS
from rules_engine.kinds import shown as pointers
from rules_engine.taco import dump

T = TypeVar("T")
HEED = "Gateways heed it within a second, for tool results that they see first; what was decided stays as it is."


@click.group("rules", cls=Group)
def command() -> None:
    """The rules: what is in use, what is in trial, what was refused and why."""


@command.command("list")
@click.option("--all", "everything", is_flag=True, help="With those that were refused or retired.")
@config_option
@data_option
def list_rules(everything: bool, file: Path | None, data: Path) -> None:
    """Lossless kinds, which always run, and rules, which run where their trigger matches and the task suits them."""
    config = read_config(file, data)
    pool = _pool(file, data)
    head = ("ID", "KIND", "V", "STAGE", "CONF", "APPLIED", "COMPL", "FROM")
    entries = sorted(pool.entries.values(), key=lambda entry: (entry.stage, entry.ref))
    shown = [entry for entry in entries if everything or entry.stage in ("live", "canary", "shadow", "disabled")]
    rows = [_row(entry, entry.rule.id in config.rules.disabled) for entry in shown]
    click.echo(aligned([head, *_kinds(config.rules.disabled), *rows]))


def _kinds(off: frozenset[str]) -> Iterator[tuple[str, ...]]:
    for name, version in {**{name: kind.VERSION for name, kind in LOSSLESS.items()}, "shown": pointers.VERSION}.items():
        yield name, "lossless", str(version), "off" if name in off else "on", "-", "-", "-", "built in"


def _row(entry: Entry, off: bool) -> tuple[str, ...]:
    rule = entry.rule
    stage = "off" if off else entry.stage
    counts = (f"{entry.confidence:.2f}", str(entry.applied), str(entry.complained))
    return rule.id, rule.kind, str(rule.version), stage, *counts, rule.provenance


@command.command("show")
@click.argument("name", metavar="ID[@VERSION]")
@config_option
@data_option
def show(name: str, file: Path | None, data: Path) -> None:
    """One rule in TACO's JSON, with its evidence and what became of it, or what a lossless kind does."""
    kind: object = {**LOSSLESS, "shown": pointers}.get(name)
    if kind is not None:
        click.echo(getdoc(kind))
        return
    entry = _find(_pool(file, data), name)
    click.echo(_text(entry.current()))
    click.echo(f"{entry.stage}{f': {entry.reason}' if entry.reason else ''}", err=True)


@command.command("why")
@click.argument("name", metavar="OBSERVATION")
@config_option
@data_option
def explain(name: str, file: Path | None, data: Path) -> None:
    """Which rules fired on a tool result, and why the others did not: by the id of its rewrite, or of its request."""
    config = read_config(file, data)
    pools = _run(lambda: read_pools(config, data))
    found = ask(data, lambda archive: why(archive, pools, config.rules, name))
    if not found:
        raise Refusal(f"no rewrite and no request with new tool results has the id {name}; `audit list` shows rewrites")
    for one in found:
        click.echo(f"{visible(one.observation.command or one.observation.tool)}".replace("\n", "⏎"))
        click.echo(f"  on record: {', '.join(one.fired_then) or 'kept as it came'}")
        rows = [
            (f"  {id_}@{version}", "fires" if r.fired else "-", r.words)
            for r in one.reasons
            for id_, version in [r.rule]
        ]
        click.echo(aligned(rows) if rows else "  there are no rules")


@command.command("diff")
@click.argument("one", metavar="ID[@VERSION]")
@click.argument("other", metavar="[ID[@VERSION]]", required=False)
@config_option
@data_option
def diff(one: str, other: str | None, file: Path | None, data: Path) -> None:
    """How two rules differ; without the second, how a rule differs from the one that it came from."""
    pool = _pool(file, data)
    after = _find(pool, one).rule
    if other is None and after.parent is None:
        raise Refusal(f"{after.id} came from no other rule; name the one to compare it with")
    before = _find(pool, other or str(after.parent)).rule
    one, other = (f"{rule.id}@{rule.version}" for rule in (before, after))
    for line in unified_diff(_text(before).split("\n"), _text(after).split("\n"), one, other, lineterm=""):
        click.echo(line)


@command.command("disable")
@click.argument("name", metavar="ID[@VERSION]")
@config_option
@data_option
def disable(name: str, file: Path | None, data: Path) -> None:
    """Switch a rule off until it is enabled again."""
    _change(file, data, lambda pool: [_event(pool, "disabled", name)])
    click.echo(f"{name} is off. {HEED}")


@command.command("enable")
@click.argument("name", metavar="ID[@VERSION]")
@config_option
@data_option
def enable(name: str, file: Path | None, data: Path) -> None:
    """Put a rule in use, whatever was found out about it before; one in trial goes on with that."""
    _change(file, data, lambda pool: [_event(pool, "enabled", name)])
    click.echo(f"{name} is {_standing(file, data, name)}. {HEED}")


@command.command("retire")
@click.argument("name", metavar="ID[@VERSION]")
@click.option("--reason", default="by hand", help="What is kept on record.")
@config_option
@data_option
def retire(name: str, reason: str, file: Path | None, data: Path) -> None:
    """Take a rule out for good."""
    _change(file, data, lambda pool: [_event(pool, "retired", name, by="hand", reason=reason)])
    click.echo(f"{name} is retired. {HEED}")


@command.command("rollback")
@click.argument("name", metavar="ID@VERSION")
@config_option
@data_option
def rollback(name: str, file: Path | None, data: Path) -> None:
    """Go back to an earlier version of a rule; later ones are retired."""
    _change(file, data, lambda pool: [_event(pool, "rolled_back", name)])
    click.echo(f"{name} is {_standing(file, data, name)}, and no later version of it is in use. {HEED}")


@command.command("import")
@click.argument("source", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False))
@config_option
@data_option
def import_rules(source: Path, file: Path | None, data: Path) -> None:
    """Put the rules of a pool in TACO's JSON in use; one that differs from another of its id is a new version of it."""
    try:
        given = read_rules(source)
    except ConfigError as error:
        raise Refusal(error.message) from error
    present = {name for name, _ in _pool(file, data).entries}
    events = _change(file, data, lambda pool: imports(pool, given, SHARED, time.time()))
    replaced = sum(rule.id in present for rule in given)
    click.echo(f"{plural(len(events), 'rule')} imported, {replaced} of them in the place of others. {HEED}")


@command.command("export")
@click.option(
    "-o", "--output", "output", type=click.File("w", encoding="utf-8", atomic=True), default="-", help="File."
)
@config_option
@data_option
def export(output: TextIO, file: Path | None, data: Path) -> None:
    """The live rules as a pool in TACO's JSON."""
    config = read_config(file, data)
    pools = _run(lambda: read_pools(config, data))
    output.write(dump(all_live(pools, config).rules))


def _pool(file: Path | None, data: Path) -> Pool:
    config = read_config(file, data)
    return _run(lambda: read_pools(config, data)).of(SHARED)


def _change(file: Path | None, data: Path, make: Callable[[Pool], Sequence[PoolEvent]]) -> Sequence[PoolEvent]:
    config = read_config(file, data)
    open_folder(data)
    return _run(lambda: change_pool(config, data, make))


def _run(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    try:
        return asyncio.run(work())
    except ConfigError as error:
        raise Refusal(error.message) from error
    except StoreError as error:
        raise Refusal(f"{error}; `taco-gateway doctor` tells more") from error


def _find(pool: Pool, name: str) -> Entry:
    id_, _, version = name.partition("@")
    versions = {ref[1]: entry for ref, entry in pool.entries.items() if ref[0] == id_}
    if id_ in (*LOSSLESS, "shown"):
        raise Refusal(
            f"{id_} is a lossless kind and no rule; `disabled` under `rules` in config.yaml switches kinds off"
        )
    if not versions:
        raise Refusal(f"no rule has the id {id_}; `taco-gateway rules list --all` shows them")
    if version and (not version.isdigit() or int(version) not in versions):
        raise Refusal(f"{id_} has no version {version}; it has {', '.join(map(str, sorted(versions)))}")
    return versions[int(version) if version else max(versions)]


def _standing(file: Path | None, data: Path, name: str) -> str:
    """What became of a rule that a person put in use."""
    entry = _find(_pool(file, data), name)
    if entry.rule.id in read_config(file, data).rules.disabled:
        return "off, as it stands in `disabled` under `rules` in config.yaml"
    return {"shadow": "in trial, not applied yet", "canary": "in trial, in some sessions"}.get(entry.stage, "on")


def _event(pool: Pool, what: EventName, name: str, **data: str) -> PoolEvent:
    return by_hand(pool, what, _find(pool, name).ref, SHARED, time.time(), data)


def _text(rule: Rule) -> str:
    return json.dumps(json.loads(dump([rule]))["general"][0], ensure_ascii=False, indent=2)
