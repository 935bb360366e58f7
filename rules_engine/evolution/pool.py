"""The pool of rules as a fold over events, and what follows from it: the top, what is due, whether it has converged.

    fold(EMPTY, events) == fold(fold(EMPTY, some), the others), in whatever order sessions' events arrive

A tenant's pool is the fold over the shared pool's events and its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import inf, nextafter
from operator import itemgetter

from rules_engine.evolution.entries import OVER, Entry, Stage, put, score, settle, take
from rules_engine.evolution.events import EventName, PoolEvent, content_key, dump_event, load_event, ref_of
from rules_engine.evolution.numbers import Numbers
from rules_engine.types import Rule, RuleRef

__all__ = [
    "EMPTY",
    "Entry",
    "Numbers",
    "Pool",
    "PoolEvent",
    "Stage",
    "batch",
    "by_hand",
    "content_key",
    "due",
    "dump_event",
    "find",
    "fold",
    "imports",
    "is_converged",
    "load_event",
    "ranking",
    "ref_of",
    "retention",
    "retentions",
    "score",
    "top",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """All rules that were ever proposed or imported, as far as they are remembered, with what became of each."""

    numbers: Numbers = field(default_factory=Numbers)
    entries: Mapping[RuleRef, Entry] = field(default_factory=dict)
    ended: int = 0
    """Tasks that have ended."""
    tops: Mapping[int, tuple[float, tuple[str, ...]]] = field(default_factory=dict)
    """Batch → when it was measured, and the contents of the top then."""


EMPTY = Pool()


def fold(pool: Pool, events: Iterable[PoolEvent]) -> Pool:
    """The pool as it is after these events."""
    entries, tops, ended = dict(pool.entries), dict(pool.tops), pool.ended
    touched: dict[RuleRef, None] = {}
    for event in events:
        if event.name == "ended":
            ended += 1
        elif event.name == "batch":
            _measure(tops, event, pool.numbers)
        elif event.name == "rolled_back":
            touched |= _roll_back(entries, event)
        else:
            touched |= _take(entries, event, pool.numbers)
    entries |= {ref: settle(entries[ref], pool.numbers) for ref in touched if ref in entries}
    return replace(pool, entries=entries, tops=tops, ended=ended)


def ranking(pool: Pool) -> list[Entry]:
    """The rules that are live and sure enough, best first; of a rule's versions the last."""
    least = pool.numbers.runtime_off
    last: dict[str, int] = {}
    live = [(-score(e), ref, e) for ref, e in pool.entries.items() if e.confidence >= least and e.stage == "live"]
    for _, (name, version), _ in live:
        last[name] = max(version, last.get(name, version))
    return [entry for _, ref, entry in sorted(live, key=itemgetter(0, 1)) if last[ref[0]] == ref[1]]


def top(pool: Pool, k: int | None = None) -> tuple[Entry, ...]:
    """The `k` best, by default as many as one task uses."""
    return tuple(ranking(pool)[: pool.numbers.top_k if k is None else k])


def find(pool: Pool, rule: Rule) -> Entry | None:
    """A rule that does the same, whatever its name and wherever it stands: what was refused need not be tried again."""
    key = content_key(rule)
    return next((entry for entry in pool.entries.values() if entry.content == key), None)


def by_hand(
    pool: Pool, name: EventName, ref: RuleRef, tenant: str, time: float, data: Mapping[str, object] | None = None
) -> PoolEvent:
    """The event of a person's hand on a rule; what was done by hand before counts no more, whatever the clock said then."""
    # A rollback is about the other versions, too.
    earlier = (entry.hand.weight for (id_, _), entry in pool.entries.items() if id_ == ref[0] and entry.hand)
    after = max(time, *(nextafter(weight, inf) for weight in earlier), -inf)
    return PoolEvent(name=name, ref=ref, tenant=tenant, time=after, data=data or {})


def imports(pool: Pool, rules: Iterable[Rule], tenant: str, time: float) -> tuple[PoolEvent, ...]:
    """The events by which a person brings `rules` in: one that is there is put in use, a changed one is a new version."""
    events: list[PoolEvent] = []
    for rule in rules:
        event = _import(pool, rule, tenant, time)
        pool = fold(pool, (event,))
        events.append(event)
    return tuple(events)


def due(pool: Pool, tenant: str, time: float) -> tuple[PoolEvent, ...]:
    """What follows by itself: trials that are passed, trials that failed, rules that nobody trusts any more."""
    steps = ((entry, _due(entry, pool.numbers)) for entry in pool.entries.values())
    return tuple(
        PoolEvent(name=step[0], ref=entry.ref, tenant=tenant, time=time, data=step[1]) for entry, step in steps if step
    )


def batch(pool: Pool, tenant: str, time: float) -> PoolEvent | None:
    """A measurement of the top, if enough tasks have ended since the last one."""
    number = pool.ended // pool.numbers.batch_tasks
    if number <= max(pool.tops, default=0):
        return None
    contents = dict.fromkeys(entry.content for entry in ranking(pool))
    data = {"number": number, "top": list(contents)[: pool.numbers.retention_k]}
    return PoolEvent(name="batch", tenant=tenant, time=time, data=data)


def retention(before: Collection[str], after: Collection[str], k: int) -> float | None:
    """The paper's Retention@k: share of the top that was in the top before; `None` if one of them has fewer than k."""
    return None if min(len(before), len(after)) < k else len(set(before) & set(after)) / k


def retentions(pool: Pool) -> tuple[float | None, ...]:
    """Retention of the last batches, newest last."""
    tops = [contents for _, (_, contents) in sorted(pool.tops.items())]
    return tuple(retention(before, after, pool.numbers.retention_k) for before, after in pairwise(tops))


def is_converged(pool: Pool) -> bool:
    """The top has stayed what it is for some batches: then nothing is proposed, until it changes again."""
    last = retentions(pool)
    line = pool.numbers.retention_line
    return len(last) >= pool.numbers.retention_batches and all(r is not None and r >= line for r in last)


def _take(entries: dict[RuleRef, Entry], event: PoolEvent, numbers: Numbers) -> dict[RuleRef, None]:
    ref = event.subject()
    entry = take(entries.get(ref), event, numbers) if ref is not None else None
    if ref is None or entry is None:
        return {}
    entries[ref] = entry
    while len(entries) > numbers.entries:
        del entries[min(entries, key=lambda ref: _worth(entries[ref], numbers))]
    return {ref: None}


def _worth(entry: Entry, numbers: Numbers) -> tuple[bool, float, float]:
    """What is worth least is forgotten first: what is over, the oldest; then what has the lowest score."""
    if entry.stage in OVER:
        return False, -entry.life.earlier, 0.0
    return True, score(settle(entry, numbers)), -entry.life.earlier


def _roll_back(entries: dict[RuleRef, Entry], event: PoolEvent) -> dict[RuleRef, None]:
    if event.ref not in entries:
        return {}
    name, version = event.ref
    entries[event.ref] = put(entries[event.ref], event, "live", "rolled back to")
    for ref in [ref for ref in entries if ref[0] == name and ref[1] > version]:
        entries[ref] = put(entries[ref], event, "retired", f"rolled back to version {version}")
    return {event.ref: None}


def _measure(tops: dict[int, tuple[float, tuple[str, ...]]], event: PoolEvent, numbers: Numbers) -> None:
    number, contents = event.count("number"), event.data.get("top")
    if not number or not isinstance(contents, list | tuple):
        return
    found = (event.time, tuple(str(key) for key in contents))
    # Two processes may measure the same batch: the first counts.
    tops[number] = min(found, tops.get(number, found))
    for old in sorted(tops)[: -numbers.retention_batches - 1]:
        del tops[old]


def _import(pool: Pool, rule: Rule, tenant: str, time: float) -> PoolEvent:
    same = find(pool, rule)
    if same is not None and _said(same.rule) == _said(rule):
        return by_hand(pool, "enabled", same.ref, tenant, time)
    versions = [version for name, version in pool.entries if name == rule.id]
    version = max((rule.version, *(version + 1 for version in versions)))
    return PoolEvent(name="imported", rule=replace(rule, version=version), tenant=tenant, time=time)


def _said(rule: Rule) -> tuple[object, ...]:
    """What a person says of a rule beside what it does."""
    return rule.id, rule.priority, rule.description


def _due(entry: Entry, numbers: Numbers) -> tuple[EventName, Mapping[str, object]] | None:
    if entry.hand is not None and not entry.hand.lifts:
        return None
    stage = entry.life.stage
    if stage in ("shadow", "canary") and entry.is_disputed:
        return "retired", {"reason": f"complained about in {stage}"}
    if stage == "shadow" and _is_passed(
        entry.shadow_sessions, entry.shadowed, numbers.shadow_sessions, numbers.shadow_outputs
    ):
        return "promoted", {"stage": "canary"}
    if stage == "canary" and _is_passed(entry.sessions, entry.counted, numbers.canary_sessions, numbers.canary_outputs):
        return "promoted", {"stage": "live"}
    if stage == "live" and entry.confidence < numbers.runtime_off:
        return "retired", {"reason": f"confidence {entry.confidence:.2f} is under {numbers.runtime_off:g}"}
    return None


def _is_passed(sessions: int, outputs: int, least_sessions: int, least_outputs: int) -> bool:
    return sessions >= least_sessions and outputs >= least_outputs
