"""Phase 3, Append History: one write for all new sessions, announced before it is made."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from memory.L4_raw_sessions import zips
from memory.L4_raw_sessions.history import block, iso
from memory.L4_raw_sessions.journal import HistoryPlan, Item, Plan, planned
from memory.L4_raw_sessions.running import Run
from memory.L4_raw_sessions.sections import SAFE


def append(run: Run) -> None:
    """Write the blocks of all staged logs."""
    items = [
        planned(item, zip=item.plan.zip or zips.current(run.places, item.plan.month))
        for item in run.journal.items("staged")
        if item.plan.size
    ]
    if not items:
        return
    path = run.places.histories
    at = path.stat().st_size if path.exists() else 0
    lead = b"" if _ends_whole(path, at) else b"\n"
    placed, blocks = _placed(items, at + len(lead))
    data = lead + b"".join(blocks)
    announced = HistoryPlan(at=at, size=len(data), sha256=hashlib.sha256(data).hexdigest())
    run.journal.announce(run.id, placed, announced)
    _write(path, data)
    run.journal.appended(run.id, done=True)


def _placed(items: Sequence[Item], at: int) -> tuple[list[Item], list[bytes]]:
    placed, blocks = [], []
    for item in items:
        plan = item.plan
        data = block(plan.member, plan.lines, facts_line(plan))
        placed.append(planned(item, history_at=at, history_size=len(data)))
        blocks.append(data)
        at += len(data)
    return placed, blocks


def facts_line(plan: Plan) -> str:
    """What a block says of its session besides its lines."""
    facts = {
        "id": plan.session,
        "year": plan.month[:4],
        "zip": plan.zip,
        "from": iso(plan.started),
        "to": iso(plan.ended),
        "sha": plan.sha256,
        "n": str(plan.messages),
        **({"model": plan.model} if plan.model else {}),
    }
    return " ".join(f"{name}={quote(value, safe=SAFE)}" for name, value in facts.items())


def _ends_whole(path: Path, size: int) -> bool:
    """A line that somebody has torn must not run into the next block."""
    if not size:
        return True
    with path.open("rb") as file:
        file.seek(size - 1)
        return file.read() == b"\n"


def _write(path: Path, data: bytes) -> None:
    file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    with open(file, "wb") as histories:
        histories.write(data)
        histories.flush()
        os.fsync(file)
