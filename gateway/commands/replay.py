"""`taco-gateway replay`: what recorded sessions would have cost through this gateway, and what would have been lost."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from gateway.commands.diffs import visible
from gateway.commands.figures import Row, change, counted, dollars, plural, rows_of, told
from gateway.commands.options import Refusal, config_option, data_option, json_option, read_config
from gateway.config import Config
from gateway.errors import ConfigError
from gateway.recordings import Copies, RecordingError, Session, files_in, read_sessions
from gateway.replaying import Replay, Replayed, replaying

SHOWN = 10
"""Of each list, so many are shown."""


@dataclass(slots=True)
class Sums:
    """What was found, summed up as it is found."""

    sessions: int = 0
    requests: int = 0
    rewrites: int = 0
    used: int = 0
    lost: int = 0
    dearer: list[str] = field(default_factory=list)
    """Sessions that would have cost more."""
    losses: list[dict[str, object]] = field(default_factory=list)
    kept: Counter[str] = field(default_factory=Counter)
    accounts: dict[str, Any] = field(default_factory=dict)
    natures: dict[str, dict[str, int]] = field(default_factory=dict)
    """Tokens of tool results in all prompts by their nature, raw and forwarded."""
    agents: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Counts and accounts by agent, where the recordings say whose they are."""
    left_out: list[str] = field(default_factory=list)
    """What could not be read, and why."""

    def add(self, session: Session, turn: int, found: Replayed) -> None:
        """One request."""
        self.requests += 1
        self.rewrites += found.rewrites
        self.used += len(found.used)
        self.lost += len(found.lost)
        self.losses += [{"session": session.name, "turn": turn, "text": text} for text in sorted(found.lost)]
        self.kept.update(found.kept)
        add_accounts(self.accounts, found.accounts)
        add_accounts(self.natures, found.natures)
        own = {"requests": 1, "rewrites": found.rewrites, "used": len(found.used), "lost": len(found.lost)}
        self._add_to_agent(session, {**own, "accounts": found.accounts})

    def end(self, session: Session, own: Mapping[str, Any]) -> None:
        """The session is over; its accounts."""
        self.sessions += 1
        self._add_to_agent(session, {"sessions": 1})
        if own.get("cost_forwarded", 0) > own.get("cost_raw", 0):
            self.dearer.append(session.name)

    def _add_to_agent(self, session: Session, counts: Mapping[str, Any]) -> None:
        if session.agent:
            add_accounts(self.agents.setdefault(session.agent, {}), counts)


def add_accounts(sums: dict[str, Any], accounts: Mapping[str, Any]) -> None:
    """Add every number to the sum of its name."""
    for name, value in accounts.items():
        if isinstance(value, Mapping):
            add_accounts(sums.setdefault(name, {}), value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            sums[name] = sums.get(name, 0) + value


@click.command("replay")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--since", "days", type=click.FloatRange(min=0), metavar="DAYS", help="In folders, only files of the last DAYS."
)
@click.option(
    "--model",
    default="claude-sonnet-4-5",
    show_default=True,
    help="Priced as this where a session names no model with a known price.",
)
@json_option
@config_option
@data_option
def command(
    files: Sequence[Path], days: float | None, model: str, as_json: bool, file: Path | None, data: Path
) -> None:
    """Take recorded sessions through this gateway: what would it have saved, what would it have lost?

    FILES are session files of Claude Code, rollout files of Codex, or JSON lines (also .jsonl.gz) with a session's "messages"
    on each line, or one chat message on each line; folders are searched for all of these:

        taco-gateway replay ~/.claude/projects ~/.codex/sessions --since 30

    The files of agents hold no tools, and those of Claude Code no system prompts, so that the savings are a share of what
    they do hold. What an agent copied into the file of a branch counts once.
    """
    config = read_config(file, data)
    try:
        sums = asyncio.run(_replay(files, days, model, config, data))
    except RecordingError as error:
        raise Refusal(str(error)) from error
    except ConfigError as error:
        raise Refusal(error.message) from error
    if as_json:
        plain = {name: getattr(sums, name) for name in Sums.__slots__}
        click.echo(json.dumps(plain))
    else:
        for reason in sums.left_out[:SHOWN]:
            click.echo(f"Left out: {reason}", err=True)
        if len(sums.left_out) > SHOWN:
            click.echo(f"Left out: and {len(sums.left_out) - SHOWN} more, which --json lists", err=True)
        click.echo(told(_describe(sums)))
        if not sums.requests and not sums.left_out:
            click.echo("No session was found; `taco-gateway replay --help` says what the files have to be.", err=True)


async def _replay(files: Sequence[Path], days: float | None, model: str, config: Config, data: Path) -> Sums:
    sums = Sums()
    found = list(files_in(files, 0.0 if days is None else time.time() - days * 86_400))
    length = sum(path.stat().st_size for path, _ in found if path.exists())
    hidden = not sys.stderr.isatty()
    with click.progressbar(length=length, label="Replaying", file=sys.stderr, hidden=hidden) as bar:
        async with replaying(config, data) as replay:
            copies = Copies()
            for path, named in found:
                try:
                    for session in read_sessions(path, note=sums.left_out.append):
                        await _replay_one(replay, copies.without(session), model, sums)
                except RecordingError as error:
                    if named:
                        raise
                    sums.left_out.append(str(error))  # whatever else lies in a folder
                bar.update(path.stat().st_size)
    return sums


async def _replay_one(replay: Replay, session: Session, model: str, sums: Sums) -> None:
    own: dict[str, Any] = {}
    turns = iter(session.turns)
    async for found in replay.requests(session, model):
        sums.add(session, next(turns), found)
        add_accounts(own, found.accounts)
    if own or not session.agent:
        sums.end(session, own)


def _describe(sums: Sums) -> list[Row]:
    share = f" ({sums.lost / sums.used:.2%} of {sums.used:,} that were used)" if sums.used else ""
    rows = [
        ("Requests", f"{plural(sums.requests, 'request')} in {plural(sums.sessions, 'session')}"),
        ("Rewritten", plural(sums.rewrites, "tool result")),
        *(rows_of(sums.accounts) if sums.accounts else ()),
        ("Results", _by_nature(sums.natures)),
        (
            "Dearer",
            f"{plural(len(sums.dearer), 'session')}{': ' if sums.dearer else ''}{', '.join(sums.dearer[:SHOWN])}",
        ),
        (
            "Lost",
            f"{plural(sums.lost, 'string')} that the agent used later and that no longer stood in the context{share}",
        ),
        *(
            ("", f"{visible(str(loss['text']))}  ({loss['session']}, message {loss['turn']})")
            for loss in sums.losses[:SHOWN]
        ),
        ("Kept raw", counted(sums.kept)),
        *((agent, _summed(own)) for agent, own in sorted(sums.agents.items()) if len(sums.agents) > 1),
    ]
    return [row for row in rows if row[1]]


def _by_nature(natures: Mapping[str, Mapping[str, int]]) -> str:
    """What became of file reads, searches and so on, those with most tokens first."""
    found = sorted(natures.items(), key=lambda nature: -nature[1]["raw"])
    return ", ".join(f"{name} {change(of['raw'], of['forwarded'])} of {of['raw']:,}" for name, of in found if of["raw"])


def _summed(own: Mapping[str, Any]) -> str:
    """What came of one agent's sessions, in a line."""
    accounts = own["accounts"]
    raw, before = accounts.get("raw_tokens", 0), accounts.get("cost_raw", 0.0)
    parts = [
        f"{plural(own['requests'], 'request')} in {plural(own['sessions'], 'session')}",
        f"{change(raw, accounts.get('forwarded_tokens', 0))} of {raw:,} tokens",
        f"{change(before, accounts.get('cost_forwarded', 0.0))} of {dollars(before)}" if before else "",
        f"{plural(own['lost'], 'string')} lost",
    ]
    return ", ".join(filter(None, parts))
