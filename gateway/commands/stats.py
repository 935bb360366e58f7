"""`taco-gateway stats`: what was saved."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

import click

from gateway.commands.archives import ask
from gateway.commands.figures import Row, counted, plural, rows_of, told
from gateway.commands.options import Refusal, data_option, json_option
from gateway.evolving.budget import BUDGET, Sums, spent
from memory import ExchangeRow, Totals


@click.command("stats")
@click.option(
    "--request", "request", metavar="ID", help="One request only (the id is in its x-taco-request-id header)."
)
@click.option("--since", "days", type=click.FloatRange(min=0), metavar="DAYS", help="Only requests of the last DAYS.")
@json_option
@data_option
def command(request: str | None, days: float | None, as_json: bool, data: Path) -> None:
    """Tokens and money that were saved, over all requests or for one."""
    if request is None:
        since = None if days is None else time.time() - days * 86_400
        totals = ask(data, lambda archive: archive.totals(since))
        rows = [*describe_totals(totals), *_proposing(spent(data / BUDGET))]
        click.echo(json.dumps(asdict(totals)) if as_json else told(rows))
        return
    exchange = ask(data, lambda archive: archive.exchange(request))
    if exchange is None:
        raise Refusal(f"no request has the id {request}; the id is in the x-taco-request-id header of its answer")
    click.echo(json.dumps(asdict(exchange)) if as_json else told(describe_exchange(exchange)))


def describe_totals(totals: Totals) -> list[Row]:
    """All requests, for a person."""
    if not totals.requests:
        return [("Requests", "none came by yet; `taco-gateway run -- AGENT` starts an agent whose requests do")]
    asked = asked_of_models(totals)
    aside = f"; {totals.requests - asked:,} others were passed on" if asked < totals.requests else ""
    rows = [
        (
            "Requests",
            f"{plural(asked, 'request')} in {plural(totals.sessions, 'session')}, {totals.retries:,} retries{aside}",
        ),
        ("", counted(totals.outcomes)),
        ("Rewritten", plural(totals.rewrites, "tool result")),
        *rows_of(totals.accounts),
        ("No price", counted(_unpriced(totals))),
        ("Kept raw", counted(totals.kept)),
        ("Missed", _missed(totals)),
        ("Models", counted(_models(totals)) if len(_models(totals)) > 1 else ""),
    ]
    return [row for row in rows if row[1]]


def asked_of_models(totals: Totals) -> int:
    """Requests that name a model; the others have nothing that could be rewritten."""
    return sum(_models(totals).values())


def _models(totals: Totals) -> dict[str, int]:
    return {name: int(str(of["requests"])) for name, of in totals.models.items() if name}


def _missed(totals: Totals) -> str:
    if totals.signals:
        return f"{counted(totals.signals)}: signs that an agent wanted what was left out"
    return "no sign that an agent wanted what was left out" if totals.rewrites else ""


def _proposing(sums: Sums) -> list[Row]:
    """What a model of ours cost that proposes rules."""
    if not sums.ours:
        return []
    return [("Proposer", f"{sums.ours:,} tokens since yesterday, {sums.share():.2%} of all")]


def _unpriced(totals: Totals) -> dict[str, int]:
    """Requests that the money leaves out, by model: tokens were counted, and no price is known."""
    found = {}
    for model, of in totals.models.items():
        accounts = of["accounts"]
        if isinstance(accounts, dict) and "raw_tokens" in accounts and "cost_raw" not in accounts:
            found[model] = int(str(of["requests"]))
    return found


def describe_exchange(exchange: ExchangeRow) -> list[Row]:
    """One request, for a person."""
    seconds = exchange.ended - exchange.started
    status = "" if exchange.status is None else f", status {exchange.status}"
    rows = [
        ("Request", exchange.id),
        ("Session", exchange.session + (f" (from {exchange.parent_session})" if exchange.parent_session else "")),
        ("Time", f"{datetime.fromtimestamp(exchange.started):%Y-%m-%d %H:%M:%S}, {seconds:.2f} s"),
        ("Model", f"{exchange.model or 'none'} at {exchange.upstream or 'no upstream'}"),
        ("Outcome", f"{exchange.outcome}{status}{', a retry' if exchange.retry else ''}"),
        ("Error", exchange.error or ""),
        *(rows_of(exchange.accounts) if exchange.accounts else ()),
        ("Kept raw", counted(exchange.kept)),
        ("Rewritten", ", ".join(f"audit show {id_}" for id_ in exchange.rewrites)),
        ("Signals", ", ".join(f"{s.name} ({s.evidence})" for s in exchange.signals)),
    ]
    return [row for row in rows if row[1]]
