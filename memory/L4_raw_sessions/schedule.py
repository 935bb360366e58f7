"""When the next run is due. The journal remembers the runs, so that a restart makes no difference."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from memory.errors import StoreError
from memory.L4_raw_sessions.files import is_held
from memory.L4_raw_sessions.index import Index
from memory.L4_raw_sessions.places import Places

PERIOD = 43_200.0
"""Seconds from one run to the next."""

RETRIES = (300.0, 900.0, 3600.0)
"""Seconds after the first failure, the second, and each one after that."""

_RUNS = "SELECT started, state, phase, report FROM runs ORDER BY rowid DESC LIMIT 20"


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What became of the last runs, and when there will be another."""

    state: str
    """done, failed, cut off, running; "" before the first."""
    phase: str
    started: float | None
    """When the last run began."""
    succeeded: float | None
    """When the last one began that did its work."""
    failures: int
    """Runs that failed since then."""
    next: float
    """When the next is due; in the past, if it is."""
    report: dict[str, Any] | None
    """Of the last run that ended."""


def status(places: Places, period: float = PERIOD) -> Status:
    """What the journal tells. An index that cannot be read is as none: the run that makes a new one is due."""
    runs = _runs(places)
    if runs and runs[0][1] == "running" and not is_held(places.lock):
        runs[0] = (runs[0][0], "cut off", *runs[0][2:])  # it died before it could say so
    succeeded = next((started for started, state, _, _ in runs if state == "done"), None)
    failures = next((n for n, run in enumerate(runs) if run[1] == "done"), len(runs))
    started, state, phase, _ = runs[0] if runs else (None, "", "", None)
    failures -= state == "running"
    report = next((json.loads(run[3]) for run in runs if run[3]), None)
    if started is None:
        due = 0.0
    elif failures and state != "running":
        due = started + RETRIES[min(failures, len(RETRIES)) - 1]
    else:
        due = started + period
    return Status(
        state=state,
        phase=phase,
        started=started,
        succeeded=succeeded,
        failures=failures,
        next=due,
        report=report,
    )


def is_due(places: Places, now: float, period: float = PERIOD) -> bool:
    """Whether a run should begin. A last run that is yet to come, as after the clock was set back, says nothing."""
    last = status(places, period)
    if last.state == "running":
        return False
    return now > last.next or (last.started is not None and last.started > now)


def _runs(places: Places) -> list[tuple[float, str, str, str | None]]:
    try:
        index = Index.open_reader(places.index)
    except StoreError:
        return []
    if index is None:
        return []
    try:
        return [(started, state, phase, report) for started, state, phase, report in index.rows(_RUNS)]
    except StoreError:
        return []
    finally:
        index.close()
