"""`stats`: what was saved, over all requests and for one."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.commands.stats import describe_exchange, describe_totals
from memory import ExchangeRow, Totals
from tests.commandline import invoke

NOTHING = Totals(
    requests=0, sessions=0, retries=0, rewrites=0, outcomes={}, kept={}, signals={}, accounts={}, models={}
)
FAILED = ExchangeRow(
    id="r1",
    session="s1",
    parent_session="s0",
    tenant="t",
    started=1.0,
    first_byte=None,
    ended=3.5,
    method="POST",
    path="/v1/x",
    shape=None,
    upstream="",
    model=None,
    stream=False,
    retry=True,
    status=None,
    outcome="failed",
    error="no way",
    tip=None,
    head=None,
    reply=None,
    reported=None,
    accounts={},
    kept={},
    rewrites=(),
    signals=(),
)


def last_request(data: Path) -> str:
    """The id of the request that ended last."""
    with closing(sqlite3.connect(data / "archive.sqlite")) as database:
        ((name,),) = database.execute("SELECT id FROM exchanges ORDER BY ended DESC LIMIT 1")
    return str(name)


def test_nothing_is_recorded(tmp_path: Path) -> None:
    """A folder without an archive is not made into one."""
    result = invoke("stats", "--data", tmp_path)
    assert result.exit_code == 2
    assert result.stderr == (
        f"Error: {tmp_path}: nothing is recorded here yet; start `taco-gateway up`, or pass the folder with --data\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_an_archive_that_cannot_be_read(tmp_path: Path) -> None:
    """A damaged file is an error in one line."""
    (tmp_path / "archive.sqlite").write_text("no database" * 100)
    result = invoke("stats", "--data", tmp_path)
    assert result.exit_code == 2
    assert "`taco-gateway doctor` tells more" in result.stderr


def test_an_unknown_request(data: Path) -> None:
    """An id that is not on record is told from one without savings."""
    result = invoke("stats", "--request", "nix", "--data", data)
    assert result.exit_code == 2
    assert "no request has the id nix" in result.stderr


def test_nobody_came() -> None:
    """Without a request there are no figures, but what to do."""
    ((title, text),) = describe_totals(NOTHING)
    assert (title, "none came by yet" in text) == ("Requests", True)


def test_requests_without_a_price_are_named() -> None:
    """Money leaves out what has no price, and says which."""
    models = {
        "a": {"requests": 2, "accounts": {"raw_tokens": 9}},
        "b": {"requests": 1, "accounts": {"raw_tokens": 9, "cost_raw": 0.1}},
        "": {"requests": 5, "accounts": {}},
    }
    rows = dict(describe_totals(replace(NOTHING, requests=8, models=models)))
    assert rows["No price"] == "2 a"
    assert rows["Models"] == "2 a, 1 b"
    assert rows["Requests"] == "3 requests in 0 sessions, 0 retries; 5 others were passed on"


@pytest.mark.parametrize(
    ("rewrites", "signals", "said"),
    [
        pytest.param(0, {}, None, id="nothing was rewritten"),
        pytest.param(2, {}, "no sign that an agent wanted what was left out", id="no complaint"),
        pytest.param(
            2, {"recall": 1}, "1 recall: signs that an agent wanted what was left out", id="something was asked for"
        ),
    ],
)
def test_what_was_missed(rewrites: int, signals: dict[str, int], said: str | None) -> None:
    """Whether agents asked for what was left out is told of all rewrites, even if it is that they did not."""
    found = replace(NOTHING, requests=1, rewrites=rewrites, signals=signals)
    assert dict(describe_totals(found)).get("Missed") == said


def test_what_a_proposing_model_cost(data: Path) -> None:
    """Our own tokens are told with their share of all, and not where there are none."""
    assert "Proposer" not in invoke("stats", "--data", data).stdout
    (data / "budget").mkdir(exist_ok=True)
    (data / "budget" / "2026-01-02.spend").write_text('\n["a", 30, 970]\n["b", 0, 500]')
    assert "Proposer   30 tokens since yesterday, 2.00% of all" in invoke("stats", "--data", data).stdout


def test_only_the_last_days(data: Path) -> None:
    """Requests before them are left out of the sums."""
    with closing(sqlite3.connect(data / "archive.sqlite")) as database:
        database.execute("UPDATE exchanges SET ended = ended - 5 * 86400 WHERE rowid % 2")
        database.commit()
    sums = json.loads(invoke("stats", "--json", "--since", "1", "--data", data).stdout)
    assert 0 < sums["requests"] < 10


def test_totals(data: Path) -> None:
    """The sums of all requests, for a person and as JSON."""
    plain = invoke("stats", "--data", data)
    sums = json.loads(invoke("stats", "--json", "--data", data).stdout)
    assert plain.exit_code == 0
    assert f"{sums['accounts']['raw_tokens']:,} sent by the agent" in plain.stdout
    assert f"Rewritten  {sums['rewrites']} tool results" in plain.stdout
    assert sums["outcomes"] == {"completed": 10}


def test_one_request(data: Path) -> None:
    """The accounts of one request, for a person and as JSON."""
    name = last_request(data)
    plain = invoke("stats", "--request", name, "--data", data)
    row = json.loads(invoke("stats", "--json", "--request", name, "--data", data).stdout)
    lines = [line.split(maxsplit=1) for line in plain.stdout.splitlines()]
    assert lines[0] == ["Request", name]
    assert ["Model", "gpt-5.1 at upstream"] in lines
    assert ["Outcome", "completed, status 200"] in lines
    assert f"{row['accounts']['forwarded_tokens']:,} forwarded" in plain.stdout
    assert row["accounts"]["forwarded_tokens"] < row["accounts"]["raw_tokens"]


def test_a_request_that_failed() -> None:
    """What went wrong is told, and no figure is made up."""
    rows = describe_exchange(FAILED)
    assert ("Session", "s1 (from s0)") in rows
    assert ("Model", "none at no upstream") in rows
    assert ("Outcome", "failed, a retry") in rows
    assert ("Error", "no way") in rows
    assert not {"Tokens", "Money", "Rewritten", "Kept raw"} & {title for title, _ in rows}
