"""The levels above the archive, by hand: `taco-gateway memory index|fact|sop|candidate`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

import click

from gateway.commands.diffs import visible
from gateway.commands.figures import aligned
from gateway.commands.groups import Group
from gateway.commands.options import Refusal, data_option
from gateway.commands.tenants import remembered, tenant_option
from memory.levels import Evidence, read_pointer

evidence_option = click.option(
    "--evidence", "pointers", multiple=True, metavar="L4:SESSION#MESSAGE", help="What proves it; may be repeated."
)


@click.command("index")
@click.option("--rebuild", is_flag=True, help="Make it anew first.")
@tenant_option
@data_option
def index(rebuild: bool, tenant: str | None, data: Path) -> None:
    """L1: the index of pointers, with which a session may begin."""
    with remembered(data, tenant) as memory:
        left_out = memory.levels.rebuild().left_out if rebuild else ()
        text = memory.levels.insight()
    click.echo(visible(text), nl=False)
    if not text:
        click.echo("There is none yet; --rebuild makes it.", err=True)
    for line in left_out:
        click.echo(f"Left out: {visible(line)}", err=True)


@click.group("fact", cls=Group)
def fact() -> None:
    """L2: facts, one a line."""


@fact.command("list")
@tenant_option
@data_option
def list_facts(tenant: str | None, data: Path) -> None:
    """All facts, with the names that `memory why` takes."""
    with remembered(data, tenant) as memory:
        found = memory.levels.facts()
    _show([("ENTRY", "SECTION", "FACT"), *((f"L2:{f.id}", f.section, visible(f.text)) for f in found)])


@fact.command("put")
@click.argument("section")
@click.argument("text")
@evidence_option
@tenant_option
@data_option
def put_fact(section: str, text: str, pointers: Sequence[str], tenant: str | None, data: Path) -> None:
    """Write a fact down. Where a secret belongs, write ref:NAME."""
    with remembered(data, tenant) as memory:
        written, problem = memory.levels.put_fact(section, text, by="person", evidence=_evidence(pointers))
    click.echo(f"L2:{written.id}")
    _warn([problem] if problem else [])


@fact.command("drop")
@click.argument("id_", metavar="ID")
@tenant_option
@data_option
def drop_fact(id_: str, tenant: str | None, data: Path) -> None:
    """Take a fact out."""
    with remembered(data, tenant) as memory:
        dropped = memory.levels.drop_fact(id_.removeprefix("L2:"))
    click.echo(f"Dropped: {visible(dropped.text)}")


@click.group("sop", cls=Group)
def sop() -> None:
    """L3: procedures, one file each; nothing in them is ever run."""


@sop.command("list")
@tenant_option
@data_option
def list_procedures(tenant: str | None, data: Path) -> None:
    """All procedures, with what they are for."""
    with remembered(data, tenant) as memory:
        found = memory.levels.procedures()
    _show([("ENTRY", "FILE", "FOR"), *((f"L3:{p.stem}", p.name, visible(p.front.get("trigger", ""))) for p in found)])


@sop.command("show")
@click.argument("name")
@tenant_option
@data_option
def show_procedure(name: str, tenant: str | None, data: Path) -> None:
    """The text of a procedure."""
    with remembered(data, tenant) as memory:
        found = memory.procedure(name)
    if found is None:
        raise Refusal(f"there is no procedure {name}; `memory sop list` shows them")
    click.echo(visible(found.text), nl=not found.text.endswith("\n"))


@sop.command("put")
@click.argument("name")
@click.argument("file", type=click.File(encoding="utf-8"))
@evidence_option
@tenant_option
@data_option
def put_procedure(name: str, file: TextIO, pointers: Sequence[str], tenant: str | None, data: Path) -> None:
    """Write a procedure from a file, or from standard input (-), in the place of one of that name."""
    with remembered(data, tenant) as memory:
        written, problems = memory.levels.put_procedure(name, file.read(), by="person", evidence=_evidence(pointers))
    click.echo(f"L3:{written.stem}")
    _warn(problems)


@sop.command("drop")
@click.argument("name")
@tenant_option
@data_option
def drop_procedure(name: str, tenant: str | None, data: Path) -> None:
    """Take a procedure away."""
    with remembered(data, tenant) as memory:
        click.echo(f"Dropped: {memory.levels.drop_procedure(name.removeprefix('L3:'))}")


@click.group("candidate", cls=Group)
def candidate() -> None:
    """What may become a fact or a procedure, and waits for a person."""


@candidate.command("list")
@click.option("--all", "everything", is_flag=True, help="With those that were decided.")
@tenant_option
@data_option
def list_candidates(everything: bool, tenant: str | None, data: Path) -> None:
    """The candidates; `memory why candidate:ID` shows what speaks for one."""
    with remembered(data, tenant) as memory:
        found = memory.levels.candidates(None if everything else "open")
    rows = [(c.id, c.state, f"{c.level}:{c.name}", visible(c.text or c.reason).replace("\n", "⏎")) for c in found]
    _show([("ID", "STATE", "AS", "TEXT"), *rows])


@candidate.command("promote")
@click.argument("id_", metavar="ID")
@tenant_option
@data_option
def promote(id_: str, tenant: str | None, data: Path) -> None:
    """Make a fact or a procedure of it."""
    with remembered(data, tenant) as memory:
        click.echo(memory.levels.promote(id_.removeprefix("candidate:"), by="person"))


@candidate.command("refuse")
@click.argument("id_", metavar="ID")
@click.option("--reason", default="by hand", help="What is kept on record.")
@tenant_option
@data_option
def refuse(id_: str, reason: str, tenant: str | None, data: Path) -> None:
    """Turn it down for good."""
    with remembered(data, tenant) as memory:
        memory.levels.refuse(id_.removeprefix("candidate:"), reason)
    click.echo(f"{id_} is refused.")


COMMANDS = (index, fact, sop, candidate)


def _evidence(pointers: Sequence[str]) -> list[Evidence]:
    return [Evidence(pointer=read_pointer(text)) for text in pointers]


def _show(rows: list[tuple[str, ...]]) -> None:
    if len(rows) == 1:
        click.echo("There are none yet.", err=True)
    else:
        click.echo(aligned(rows))


def _warn(problems: Sequence[str]) -> None:
    for problem in problems:
        click.echo(visible(problem), err=True)
