"""`taco-gateway replay`: what recorded sessions would have cost through this gateway, and what would have been lost."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from gateway.commands.diffs import visible
from gateway.commands.figures import Row, aligned, counted, plural, rows_of
from gateway.commands.options import Refusal, config_option, data_option, json_option, read_config
from gateway.config import Config
from gateway.errors import ConfigError
from gateway.recordings import RecordingError, Session, read_sessions
from gateway.replaying import Replay, Replayed, replaying

SHOWN = 10
"""Lost strings that are listed."""


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

    def add(self, name: str, turn: int, found: Replayed) -> None:
        """One request."""
        self.requests += 1
        self.rewrites += found.rewrites
        self.used += len(found.used)
        self.lost += len(found.lost)
        self.losses += [{"session": name, "turn": turn, "text": text} for text in sorted(found.lost)]
        self.kept.update(found.kept)
        add_accounts(self.accounts, found.accounts)


def add_accounts(sums: dict[str, Any], accounts: Mapping[str, Any]) -> None:
    """Add every number to the sum of its name."""
    for name, value in accounts.items():
        if isinstance(value, Mapping):
            add_accounts(sums.setdefault(name, {}), value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            sums[name] = sums.get(name, 0) + value


@click.command("replay")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--model",
    default="claude-sonnet-4-5",
    show_default=True,
    help="Priced as this where a session names no model with a known price.",
)
@json_option
@config_option
@data_option
def command(files: Sequence[Path], model: str, as_json: bool, file: Path | None, data: Path) -> None:
    """Take recorded sessions through this gateway: what would it have saved, what would it have lost?

    FILES are JSON lines (also .jsonl.gz): a session with "messages" on each line, or one chat message on each line.
    """
    config = read_config(file, data)
    try:
        sessions = [session for path in files for session in read_sessions(path)]
        sums = asyncio.run(_replay(sessions, model, config, data))
    except RecordingError as error:
        raise Refusal(str(error)) from error
    except ConfigError as error:
        raise Refusal(error.message) from error
    if as_json:
        plain = {name: getattr(sums, name) for name in Sums.__slots__}
        click.echo(json.dumps(plain))
    else:
        click.echo(aligned(_describe(sums)))


async def _replay(sessions: Sequence[Session], model: str, config: Config, data: Path) -> Sums:
    sums = Sums()
    length = sum(len(session.turns) for session in sessions)
    hidden = not sys.stderr.isatty()
    with click.progressbar(length=length, label="Replaying", file=sys.stderr, hidden=hidden) as bar:
        async with replaying(config, data) as replay:
            for session in sessions:
                await _replay_one(replay, session, model, sums, bar)
    return sums


async def _replay_one(replay: Replay, session: Session, model: str, sums: Sums, bar: Any) -> None:
    own: dict[str, Any] = {}
    turns = iter(session.turns)
    async for found in replay.requests(session, model):
        sums.add(session.name, next(turns), found)
        add_accounts(own, found.accounts)
        bar.update(1)
    sums.sessions += 1
    if own.get("cost_forwarded", 0) > own.get("cost_raw", 0):
        sums.dearer.append(session.name)


def _describe(sums: Sums) -> list[Row]:
    share = f" ({sums.lost / sums.used:.2%} of {sums.used:,} that were used)" if sums.used else ""
    rows = [
        ("Requests", f"{plural(sums.requests, 'request')} in {plural(sums.sessions, 'session')}"),
        ("Rewritten", plural(sums.rewrites, "tool result")),
        *(rows_of(sums.accounts) if sums.accounts else ()),
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
    ]
    return [row for row in rows if row[1]]
