"""The journal: what a run has done so far with each raw log, so that the next one can go on where it was cut off.

item: staged ─append→ appended ─zip→ verified ─clean up→ (gone)
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from memory.L4_raw_sessions.index import Index

State = Literal["staged", "appended", "verified"]

KEPT = 200
"""Runs that are remembered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to become of a raw log."""

    member: str
    month: str
    format: str
    session: str
    model: str | None
    started: float
    ended: float
    messages: int
    keys: tuple[tuple[str, str | None], ...]
    size: int
    """0 where a verified zip holds all of it: there is no member to be made."""
    sha256: str
    raw_size: int
    raw_sha256: str
    lines: tuple[str, ...]
    zip: str = ""
    history_at: int = 0
    history_size: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A raw log on its way."""

    source: str
    run: str
    state: State
    inode: int
    size: int
    mtime_ns: int
    staged: str
    """Name of its file in the staging folder."""
    plan: Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryPlan:
    """What is about to be appended to the histories."""

    at: int
    size: int
    sha256: str


class Journal:
    """Writes down each step of the runs; a step that it calls done survives a loss of power."""

    def __init__(self, index: Index) -> None:
        self.index = index

    def begin(self, run: str, now: float) -> None:
        """Note that a run begins; an earlier one that never noted its end was cut off."""
        with self.index.transaction():
            self.index.rows("UPDATE runs SET state = 'cut off' WHERE state = 'running'")
            self.index.rows("INSERT INTO runs VALUES (?, ?, NULL, 'Scan', 'running', NULL, NULL)", (run, now))
            self.index.rows(
                "DELETE FROM runs WHERE history IS NULL AND id NOT IN (SELECT id FROM runs ORDER BY id DESC LIMIT ?)",
                (KEPT,),
            )

    def enter(self, run: str, phase: str) -> None:
        """Note the phase that a run is in now."""
        self.index.rows("UPDATE runs SET phase = ? WHERE id = ?", (phase, run))

    def end(self, run: str, now: float, state: str, report: dict[str, Any]) -> None:
        """Note how a run has ended, with its report."""
        sql = "UPDATE runs SET ended = ?, state = ?, report = ? WHERE id = ?"
        self.index.rows(sql, (now, state, json.dumps(report), run))

    def items(self, *states: State) -> list[Item]:
        """Raw logs on their way, the oldest first."""
        sql = "SELECT * FROM items WHERE state IN (SELECT value FROM json_each(?)) ORDER BY mtime_ns, source"
        return [_item(*row) for row in self.index.rows(sql, (json.dumps(states),))]

    def add(self, item: Item) -> None:
        """Note that a raw log is staged."""
        row = (item.source, item.run, item.state, item.inode, item.size, item.mtime_ns, item.staged, _json(item.plan))
        self.index.rows("INSERT OR REPLACE INTO items VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)

    def drop(self, items: Iterable[Item]) -> None:
        """Take raw logs off the journal: they are done with, or will be staged anew."""
        self.index.run_many("DELETE FROM items WHERE source = ?", [(item.source,) for item in items])

    def announce(self, run: str, items: Sequence[Item], history: HistoryPlan) -> None:
        """Say what will be written into the histories, before it is."""
        with self.index.transaction(durable=True):
            self.index.rows("UPDATE runs SET history = ? WHERE id = ?", (json.dumps(asdict(history)), run))
            rows = [(run, _json(item.plan), item.source) for item in items]
            self.index.run_many("UPDATE items SET run = ?, plan = ? WHERE source = ?", rows)

    def announced(self) -> list[tuple[str, HistoryPlan]]:
        """What runs were about to write into the histories when they were cut off."""
        rows = self.index.rows("SELECT id, history FROM runs WHERE history IS NOT NULL ORDER BY id")
        return [(run, HistoryPlan(**json.loads(history))) for run, history in rows]

    def appended(self, run: str, done: bool) -> None:
        """Note whether what a run announced stands in the histories; if not, it will be announced anew."""
        with self.index.transaction(durable=True):
            if done:
                self.index.rows("UPDATE items SET state = 'appended' WHERE run = ? AND state = 'staged'", (run,))
            self.index.rows("UPDATE runs SET history = NULL WHERE id = ?", (run,))

    def restage(self, item: Item) -> None:
        """Note that the lines of a raw log have to be written into the histories again."""
        self.index.rows("UPDATE items SET state = 'staged' WHERE source = ?", (item.source,))

    def verified(self, items: Sequence[Item]) -> list[int]:
        """Note that members were read back from their zips and found right: from now on they count. Returns their ids."""
        with self.index.transaction(durable=True):
            members = [self.put_member(item.plan) for item in items]
            for member, item in zip(members, items, strict=True):
                self.put_exchanges(member, item.plan.keys)
                self.index.rows("UPDATE items SET state = 'verified' WHERE source = ?", (item.source,))
        return members

    def put_member(self, plan: Plan) -> int:
        """Write the row of a member, in the place of an older one of the same zip and name. Returns its id."""
        self.index.rows("DELETE FROM members WHERE zip = ? AND member = ?", (plan.zip, plan.member))
        facts = asdict(plan)
        row = [facts[name] for name in _COLUMNS]
        sql = f"INSERT INTO members ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))}) RETURNING id"
        return int(self.index.rows(sql, row)[0][0])

    def put_exchanges(self, member: int, keys: Sequence[tuple[str, str | None]]) -> None:
        """Write down which exchanges a member holds."""
        rows = [(key, member, at, id_) for at, (key, id_) in enumerate(keys)]
        self.index.run_many("INSERT OR IGNORE INTO exchanges (key, member, ordinal, id) VALUES (?, ?, ?, ?)", rows)


_COLUMNS = (
    *("zip", "member", "session", "model", "format", "started", "ended", "messages", "size", "sha256", "raw_size"),
    *("raw_sha256", "history_at", "history_size"),
)


def planned(item: Item, **changes: Any) -> Item:
    """The item with a changed plan."""
    return replace(item, plan=replace(item.plan, **changes))


def _json(plan: Plan) -> str:
    return json.dumps(asdict(plan))


def _item(*row: Any) -> Item:
    source, run, state, inode, size, mtime_ns, staged, plan = row
    facts = json.loads(plan)
    facts["keys"] = tuple((key, id_) for key, id_ in facts["keys"])
    facts["lines"] = tuple(facts["lines"])
    return Item(
        source=source,
        run=run,
        state=state,
        inode=inode,
        size=size,
        mtime_ns=mtime_ns,
        staged=staged,
        plan=Plan(**facts),
    )
