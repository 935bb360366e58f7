"""Phases 4 and 5, Archive, Verify & Index: into the zips, and read back from there."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any

from memory.errors import StoreError
from memory.L4_raw_sessions import zips
from memory.L4_raw_sessions.catchup import add_member
from memory.L4_raw_sessions.journal import Item, Plan
from memory.L4_raw_sessions.places import SEPARATOR, name_of
from memory.L4_raw_sessions.running import Run


def archive(run: Run) -> None:
    """Phase 4, Archive: add the staged files to the zips of their months."""
    zips.sweep(run.places)
    items = sorted(run.journal.items("appended"), key=lambda item: item.plan.zip)
    for name, group in groupby(items, key=lambda item: item.plan.zip):
        additions = [_addition(run, item) for item in group]
        for note in zips.add(run.places, name, additions):
            run.report.quarantined += 1
            run.report.errors.append(note)


def _addition(run: Run, item: Item) -> zips.Addition:
    plan = item.plan
    path = run.staging / item.staged
    return zips.Addition(member=plan.member, path=path, sha256=plan.sha256, time=plan.started, facts=_facts(plan))


def _facts(plan: Plan) -> dict[str, Any]:
    names = ("session", "model", "format", "sha256", "raw_size", "raw_sha256")
    return {name: getattr(plan, name) for name in names}


def verify(run: Run) -> None:
    """Phase 5, Verify & Index: read each new member from its zip, and its block from the histories; then it can be searched."""
    items = sorted(run.journal.items("appended"), key=lambda item: item.plan.zip)
    for name, group in groupby(items, key=lambda item: item.plan.zip):
        mine = list(group)
        read = zips.read_back(run.places.folder / name, [item.plan.member for item in mine])
        right = [item for item in mine if _judge(run, item, *read.get(item.plan.member, ("", 0)))]
        for member, item in zip(run.journal.verified(right), right, strict=True):
            _make_searchable(run, member, item)


def _make_searchable(run: Run, member: int, item: Item) -> None:
    """By the words of all its messages; what cannot be done now is done when somebody searches."""
    try:
        with (run.staging / item.staged).open("rb") as file:
            add_member(run.journal.index, member, item.plan.session, file)
    except (OSError, StoreError) as error:
        run.report.details.append(f"{item.plan.member} cannot be searched yet: {error}")


def _judge(run: Run, item: Item, sha256: str, packed: int) -> bool:
    plan = item.plan
    if sha256 != plan.sha256:
        run.report.errors.append(f"{plan.zip}: {plan.member} is not what was put there; its raw log stays")
    elif not _has_block(run.places.histories, plan):
        run.report.errors.append(f"{plan.member}: its lines were cut out of the histories; they are written anew")
        run.journal.restage(item)
    else:
        run.report.verified += 1
        run.report.new_sessions += 1
        run.report.archived.append(_told(plan))
        run.report.bytes_archived += packed
        return True
    return False


def _told(plan: Plan) -> dict[str, str]:
    return {"session": plan.session, "name": name_of(plan.zip, plan.member)}


def _has_block(path: Path, plan: Plan) -> bool:
    try:
        with path.open("rb") as file:
            file.seek(plan.history_at)
            data = file.read(plan.history_size)
    except FileNotFoundError:
        return False
    return data.startswith(f"\n{SEPARATOR}\nSESSION: {plan.member}\n".encode())
