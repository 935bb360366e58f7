"""`taco-gateway memory`: what was said, what is known from it, and how the two are linked."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

import click

from gateway.commands import levels
from gateway.commands.diffs import visible
from gateway.commands.figures import aligned, plural
from gateway.commands.groups import Group
from gateway.commands.options import Refusal, config_option, data_option, json_option, read_config
from gateway.commands.tenants import remembered, tenant_option
from gateway.commands.waiting import watch_run, watched
from gateway.remembering.memories import Proof, Shown, tenants
from memory import Found
from memory.L4_raw_sessions.export import FORMATS, Format
from memory.L4_raw_sessions.search import moment

QUOTED = 300
"""Characters of a proof that are shown."""


@click.group("memory", cls=Group)
def command() -> None:
    """Every session, what is known from it, and how the two are linked.

    Each takes --data, the folder, and all but `status`, which lists them, --tenant.
    """


def _moment(context: click.Context, option: click.Parameter, text: str | None) -> float | None:
    try:
        return moment(text)
    except ValueError as error:
        raise click.BadParameter(f"{text!r} is no date; write 2026-05-01 or 2026-05-01T13:45") from error


@command.command("search")
@click.argument("words", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="Sessions at most.")
@click.option(
    "--since",
    metavar="WHEN",
    callback=_moment,
    help="Said then or later: an ISO date or time, UTC unless it says otherwise.",
)
@click.option("--until", metavar="WHEN", callback=_moment, help="Said then or earlier.")
@click.option("--role", help="Said by user, assistant, tool or system.")
@click.option("--model", help="Of one model.")
@click.option("--session", metavar="ID", help="In one session.")
@json_option
@tenant_option
@data_option
def search(words: tuple[str, ...], as_json: bool, tenant: str | None, data: Path, **wanted: Any) -> None:
    """Find sessions, live and archived, that say all of these words."""
    with remembered(data, tenant) as memory:
        found = memory.search(" ".join(words), **wanted)
    if as_json:
        click.echo(json.dumps([asdict(one) for one in found], ensure_ascii=False))
    elif not found:
        click.echo("No session says that.", err=True)
    for one in () if as_json else found:
        click.echo(f"{_when(one.time)}  {one.pointer}  {_facts(one)}\n  {visible(one.snippet)}")


def _facts(one: Found) -> str:
    return f"{one.role}, {plural(one.matches, 'message')} in {one.session}, about {one.tokens:,} tokens"


@command.command("show")
@click.argument("session")
@click.option("--log", is_flag=True, help="The log as it is archived.")
@json_option
@tenant_option
@data_option
def show(session: str, log: bool, as_json: bool, tenant: str | None, data: Path) -> None:
    """One session, by its id or by YYYY-MM/NAME: what was said, and the entries that cite it."""
    with remembered(data, tenant) as memory:
        if log:
            click.echo(visible(memory.read(session)), nl=False)
            return
        shown = memory.show(session)
    click.echo(json.dumps(asdict(shown), ensure_ascii=False) if as_json else "\n".join(_describe(shown)))


def _describe(shown: Shown) -> Iterator[str]:
    places = [*shown.names, *(["not archived yet"] if shown.live else [])]
    rows = [
        ("Session", shown.session),
        ("Archived", ", ".join(places)),
        ("Time", f"{_when(shown.started)} to {_when(shown.ended)}"),
        ("Model", shown.model or "unknown"),
        ("Cited by", ", ".join(shown.cited_by) or "nothing"),
    ]
    yield aligned(rows)
    for one in shown.messages:
        head = f"\nL4:{one.name or one.session}#{one.ordinal}  {one.role}  {_when(one.time)}"
        yield click.style(head, bold=True)
        yield visible(one.text)


@command.command("why")
@click.argument("entry")
@json_option
@tenant_option
@data_option
def why(entry: str, as_json: bool, tenant: str | None, data: Path) -> None:
    """What proves an entry: L2:ID, L3:NAME, L1:KEY or candidate:ID."""
    with remembered(data, tenant) as memory:
        reason = memory.why(entry)
    if reason is None:
        raise Refusal(f"there is no entry {entry}; `memory fact list`, `sop list` and `candidate list` show them")
    if as_json:
        click.echo(json.dumps(asdict(reason), ensure_ascii=False))
        return
    click.echo(f"{reason.entry}: {visible(reason.text)}")
    for proof in reason.proofs:
        click.echo("\n" + "\n".join(_prove(proof)))
    if not reason.proofs:
        click.echo("Stated by a person, without evidence.")


def _prove(proof: Proof) -> Iterator[str]:
    said = f", {proof.role}" if proof.role else ""
    gone = "  evidence gone: the session was forgotten" if proof.gone else ""
    yield f"{proof.pointer}{said}  by {proof.by}, {_when(proof.time)}{gone}"
    if proof.names:
        yield f"  archived as {', '.join(proof.names)}"
    if proof.exchange:
        yield f"  request {proof.exchange}: `taco-gateway stats --request {proof.exchange}`"
    if proof.quote:
        text = visible(proof.quote[:QUOTED]).replace("\n", "⏎")
        yield f"  “{text}{'…' if len(proof.quote) > QUOTED else ''}”"


@command.command("run")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and change nothing.")
@json_option
@config_option
@tenant_option
@data_option
def run(dry_run: bool, as_json: bool, file: Path | None, tenant: str | None, data: Path) -> None:
    """Archive now what the gateway archives every twelve hours: sessions that have been quiet for two."""
    with remembered(data, tenant) as memory:
        report = watch_run(memory, read_config(file, data), dry_run)
    click.echo(json.dumps(report, ensure_ascii=False) if as_json else _tell(report))
    if report["errors"]:
        click.get_current_context().exit(1)
    if report["state"] == "busy":
        raise Refusal("another run is under way; `memory status` shows what becomes of it")


def _tell(report: dict[str, Any]) -> str:
    would = "would be " if report["dry_run"] else ""
    rows = [
        ("Sessions", f"{report['new_sessions']:,} {would}archived, {report['skipped']:,} left alone"),
        ("Read", f"{plural(report['processed'], 'raw log')}, {report['bytes_raw']:,} bytes"),
        ("Written", f"{report['bytes_archived']:,} bytes, {report['verified']:,} members read back and found right"),
        ("Trash", plural(report["deleted_raw"], "raw log")),
        ("Left out", f"{report['duplicates']:,} duplicates, {report['redactions']:,} more secrets"),
        ("Put aside", f"{plural(report['quarantined'], 'file')} in quarantine"),
        ("Seconds", f"{report['seconds']:.1f}"),
        *(("Error", visible(error)) for error in report["errors"]),
        *(("", visible(detail)) for detail in report["details"]),
    ]
    return aligned(rows)


@command.command("verify")
@click.option("--month", metavar="YYYY-MM", help="Of one month only.")
@click.option("--rebuild", is_flag=True, help="Make the index anew from the files first.")
@json_option
@tenant_option
@data_option
def verify(month: str | None, rebuild: bool, as_json: bool, tenant: str | None, data: Path) -> None:
    """Read all that is archived, and compare it with what was put there; exit code 1 if something is wrong."""
    with remembered(data, tenant) as memory:
        rebuilt = watched("Rebuilding", memory.rebuild) if rebuild else None
        found = watched("Verifying", lambda: memory.verify(month))
    problems = [*(rebuilt["problems"] if rebuilt else ()), *found.problems]
    if as_json:
        click.echo(json.dumps({**asdict(found), "problems": problems, "rebuilt": rebuilt}, ensure_ascii=False))
    else:
        for problem in problems:
            click.echo(visible(problem))
        said = plural(len(problems), "problem") if problems else "all as they were archived"
        click.echo(f"{plural(found.zips, 'zip')}, {plural(found.members, 'session')}: {said}.")
    if problems:
        click.get_current_context().exit(1)


@command.command("export")
@click.option("--format", "form", type=click.Choice(FORMATS), default="jsonl", show_default=True)
@click.option("--session", metavar="ID", help="One session only.")
@click.option(
    "-o", "--output", "output", type=click.File("w", encoding="utf-8", atomic=True), default="-", help="File."
)
@tenant_option
@data_option
def export(form: Format, session: str | None, output: TextIO, tenant: str | None, data: Path) -> None:
    """Sessions as JSON lines: all that is known of each, or OpenAI messages alone."""
    with remembered(data, tenant) as memory:
        total = 1 if session else len({part.session for part in memory.sessions()})
        hidden = not sys.stderr.isatty() or output.name == "-"
        lines = memory.export(form, session)
        with click.progressbar(lines, total, "Exporting", file=sys.stderr, hidden=hidden) as shown:
            for line in shown:
                output.write(f"{line}\n")


@command.command("restore")
@click.argument("session")
@click.option(
    "-o", "--output", "output", type=click.File("w", encoding="utf-8", atomic=True), default="-", help="File."
)
@tenant_option
@data_option
def restore(session: str, output: TextIO, tenant: str | None, data: Path) -> None:
    """The conversation as OpenAI messages, to go on with it.

    A session that was forgotten comes back with a copy of its log: put it into temp/model_responses, `memory run` two
    hours later, then this. What it proved is linked to it again.
    """
    with remembered(data, tenant) as memory:
        json.dump(memory.restore(session), output, ensure_ascii=False, indent=1)
    output.write("\n")


@command.command("forget")
@click.argument("session")
@click.option("--yes", is_flag=True, help="Do not ask.")
@tenant_option
@data_option
def forget(session: str, yes: bool, tenant: str | None, data: Path) -> None:
    """Take a session out of every file, for good; what it proved stays, marked so."""
    if not yes and not is_asked():
        raise Refusal("a session that was forgotten cannot be had back: say --yes if that is what you want")
    with remembered(data, tenant) as memory:
        if not yes:
            shown = memory.show(session)
            what = f"{plural(len(shown.messages), 'message')} of {_when(shown.started)}"
            click.confirm(f"Forget {shown.session}, {what}, for good?", abort=True)
        gone = memory.forget(session)
    files = f"{plural(len(gone.names), 'archived part')}, {plural(gone.raw, 'raw log')}, {plural(gone.rows, 'row')}"
    click.echo(f"{gone.session} is forgotten: {files}.")
    _report(gone.problems)


@command.command("retain")
@click.option("--days", type=click.FloatRange(0), help="Let go of what ended more than so many days ago.")
@click.option("--megabytes", type=click.FloatRange(0), help="Let go of the oldest until the zips have that size.")
@click.option("--yes", is_flag=True, help="Do it; without it is only said what would go.")
@tenant_option
@data_option
def retain(days: float | None, megabytes: float | None, yes: bool, tenant: str | None, data: Path) -> None:
    """Keep archived sessions for so long, or as many as have room. Without a limit they are kept for ever."""
    if days is None and megabytes is None:
        raise Refusal("say how long, with --days, or how much, with --megabytes")
    size = None if megabytes is None else int(megabytes * 1e6)
    with remembered(data, tenant) as memory:
        gone = watched("Letting go", lambda: memory.retain(days=days, size=size, dry_run=not yes))
    for one in gone:
        click.echo(f"{_when(one.ended)}  {one.name}  {one.session}  {one.size:,} bytes")
    verb = "gone" if yes else "would go; --yes lets them go"
    click.echo(f"{plural(len(gone), 'archived part')} {verb}.", err=True)


@command.command("redact")
@click.argument("pattern", required=False)
@json_option
@tenant_option
@data_option
def redact(pattern: str | None, as_json: bool, tenant: str | None, data: Path) -> None:
    """Redact everything that is stored again: by a pattern of RE2, or by the forms of secrets that this version knows."""
    if pattern is not None and is_asked():
        click.confirm(f"Redact whatever {pattern} fits in every session, for good?", abort=True)
    with remembered(data, tenant) as memory:
        done, files = watched("Redacting", lambda: memory.redact(pattern))
    if as_json:
        click.echo(json.dumps({**asdict(done), "files": files}, ensure_ascii=False))
    else:
        archived = f"{plural(done.members, 'archived session')}, {plural(done.lines, 'line')} of the histories"
        rest = f"{plural(done.raw, 'raw log')}, {plural(done.rows, 'row')}, {plural(len(files), 'file')} of the levels"
        click.echo(f"Changed: {archived}, {rest}.")
    _report(done.problems)


def _report(problems: tuple[str, ...]) -> None:
    for problem in problems:
        click.echo(f"Look into it by hand: {visible(problem)}", err=True)
    if problems:
        click.get_current_context().exit(1)


@command.command("status")
@json_option
@data_option
def status(as_json: bool, data: Path) -> None:
    """How it stands: runs, sizes, entries, what a person should look at."""
    found = {}
    for name in tenants(data):
        with remembered(data, name) as memory:
            found[name] = memory.status()
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False))
        return
    click.echo("\n\n".join(aligned(_rows(name, told)) for name, told in found.items()))


def _rows(name: str, told: dict[str, Any]) -> list[tuple[str, str]]:
    runs, sizes, entries = told["runs"], told["bytes"], told["levels"]
    last = f"{runs['state']} at {_when(runs['started'])}" if runs["state"] else "none yet"
    phase = f", in {runs['phase']}" if runs["state"] == "running" else ""
    return [
        ("Tenant", name or "none yet"),
        ("Folder", told["folder"]),
        ("Sessions", f"{told['sessions']:,}: {told['archived']:,} parts archived, {told['live']:,} live"),
        ("Last run", last + phase),
        ("Next run", "now" if not runs["next"] else _when(runs["next"])),
        ("Bytes", ", ".join(f"{size:,} {what}" for what, size in sizes.items())),
        ("L1", f"{entries['L1']} bytes"),
        ("L2, L3", f"{plural(entries['L2'], 'fact')}, {plural(entries['L3'], 'procedure')}"),
        ("Candidates", f"{entries['candidates']} wait for a decision"),
        *(("Look at", visible(warning)) for warning in told["warnings"]),
        *(("Failed", visible(error)) for error in (runs["report"] or {}).get("errors", ())),
    ]


@command.command("mcp")
@tenant_option
@data_option
def mcp(tenant: str | None, data: Path) -> None:
    """Serve this memory, to be read only, over the Model Context Protocol on standard input and output."""
    from gateway.remembering.memory_server import serve  # its library takes a second to load

    with remembered(data, tenant) as memory:
        serve(memory)


def is_asked() -> bool:
    """Whether a person sits there who can answer."""
    return sys.stdin.isatty()


for each in levels.COMMANDS:
    command.add_command(each)


def _when(time: float) -> str:
    return f"{datetime.fromtimestamp(time, UTC):%Y-%m-%d %H:%M}Z"
