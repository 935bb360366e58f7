"""`taco-gateway stats`: what was saved."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

import click

from gateway.commands.archives import ask
from gateway.commands.figures import Row, aligned, counted, plural, rows_of
from gateway.commands.options import Refusal, data_option, json_option
from memory import ExchangeRow, Totals


@click.command("stats")
@click.option(
    "--request", "request", metavar="ID", help="One request only (the id is in its x-taco-request-id header)."
)
@json_option
@data_option
def command(request: str | None, as_json: bool, data: Path) -> None:
    """Tokens and money that were saved, over all requests or for one."""
    if request is None:
        totals = ask(data, lambda archive: archive.totals())
        click.echo(json.dumps(asdict(totals)) if as_json else aligned(describe_totals(totals)))
        return
    exchange = ask(data, lambda archive: archive.exchange(request))
    if exchange is None:
        raise Refusal(f"no request has the id {request}; the id is in the x-taco-request-id header of its answer")
    click.echo(json.dumps(asdict(exchange)) if as_json else aligned(describe_exchange(exchange)))


def describe_totals(totals: Totals) -> list[Row]:
    """All requests, for a person."""
    if not totals.requests:
        return [("Requests", "none came by yet; `taco-gateway up` prints how to point an agent here")]
    rows = [
        (
            "Requests",
            f"{plural(totals.requests, 'request')} in {plural(totals.sessions, 'session')}, {totals.retries:,} retries",
        ),
        ("", counted(totals.outcomes)),
        ("Rewritten", plural(totals.rewrites, "tool result")),
        *rows_of(totals.accounts),
        ("No price", counted(_unpriced(totals))),
        ("Kept raw", counted(totals.kept)),
        ("Signals", counted(totals.signals)),
    ]
    if len(totals.models) > 1:
        rows += [("Models", counted({name or "none": int(str(of["requests"])) for name, of in totals.models.items()}))]
    return [row for row in rows if row[1]]


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
        ("Rewritten", "".join(f"audit show {id_}  " for id_ in exchange.rewrites).rstrip()),
        ("Signals", ", ".join(f"{s.name} ({s.evidence})" for s in exchange.signals)),
    ]
    return [row for row in rows if row[1]]
