"""The paper's unit of evolution: one session with its rules, from the selection to the write-back.

A rule that is complained about is frozen for the task; one that is applied without complaint gains confidence; what
that comes to is told to the pool as events.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from rules_engine.evolution.complaints import Complaint
from rules_engine.evolution.events import EventName, PoolEvent, ref_of
from rules_engine.evolution.numbers import Numbers
from rules_engine.evolution.selection import Selection
from rules_engine.scan import which
from rules_engine.types import Decision, Observation, Rewritten, Rule, RuleRef, RuleSet, Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """One rule in one task."""

    rule: Rule
    confidence: float
    """The task's confidence in it; 0.0 after a complaint."""
    applied: int = 0
    """How often it left something out since it was last written back to the pool."""
    removed: int = 0
    """Characters that it left out in those, less those of the marks."""
    in_shadow: bool = False
    is_new: bool = False
    """The task made it: the pool does not have it yet."""
    complaint: str = ""

    @property
    def is_frozen(self) -> bool:
        """Whether it is off for the rest of the task."""
        return bool(self.complaint)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """The state of one session's rules; every function here gives a new one."""

    session: str
    tenant: str = ""
    place: str = ""
    """The repository, if that is known."""
    numbers: Numbers = field(default_factory=Numbers)
    uses: Mapping[RuleRef, Use] = field(default_factory=dict)
    proposals: int = 0
    """How many rules the task has made."""


def start(selection: Selection, session: str, *, tenant: str = "", place: str = "", numbers: Numbers) -> Task:
    """Begin with the rules that were selected."""
    new = {ref_of(rule) for rule in selection.made}
    uses = {
        ref_of(rule): Use(rule=rule, confidence=rule.confidence, in_shadow=in_shadow, is_new=ref_of(rule) in new)
        for in_shadow, group in ((True, selection.shadow), (False, selection.rules))
        for rule in group
    }
    return Task(session=session, tenant=tenant, place=place, numbers=numbers, uses=uses)


def rules(task: Task, settings: Settings, *, shadow: bool = False) -> RuleSet:
    """The rules that the next observation is decided by, or those that are only tried on it."""
    off = task.numbers.runtime_off
    on = [u.rule for u in task.uses.values() if u.in_shadow == shadow and not u.is_frozen and u.confidence >= off]
    return RuleSet(rules=tuple(sorted(on, key=lambda rule: (rule.priority, rule.id))), settings=settings)


def applied(task: Task, decisions: Iterable[Decision]) -> Task:
    """Count what rules took away, and credit it: only a rule that removed something was applied."""
    uses = dict(task.uses)
    for decision in decisions:
        for ref, removed in _removed(decision).items():
            if (use := uses.get(ref)) is not None and not use.is_frozen and removed > 0:
                confidence = min(task.numbers.credit_most, use.confidence * task.numbers.credit)
                uses[ref] = replace(use, applied=use.applied + 1, removed=use.removed + removed, confidence=confidence)
    return replace(task, uses=uses)


def complain(task: Task, blamed: Iterable[Complaint], time: float) -> tuple[Task, tuple[PoolEvent, ...]]:
    """Freeze the rules that are blamed, and no others. A rule is complained about once in a task."""
    uses = dict(task.uses)
    events: list[PoolEvent] = []
    for complaint in blamed:
        for ref in complaint.rules:
            use = uses.get(ref)
            if use is None or use.is_frozen:
                continue
            uses[ref] = replace(use, confidence=0.0, complaint=f"{complaint.name}: {'; '.join(complaint.evidence)}")
            events += _complained(task, uses[ref], complaint, time)
    return replace(task, uses=uses), tuple(events)


def propose(task: Task, rule: Rule, time: float, *, at_once: bool = False) -> tuple[Task, tuple[PoolEvent, ...]]:
    """Take a new rule into the task: in shadow or, as in the paper, applied `at_once`; then it counts as admitted."""
    ref = ref_of(rule)
    if ref in task.uses or not may_propose(task):
        return task, ()
    confidence = task.numbers.initial_confidence
    rule = replace(rule, confidence=confidence, times_applied=0, times_complained=0)
    use = Use(rule=rule, confidence=confidence, in_shadow=not at_once, is_new=True)
    after = replace(task, uses={**task.uses, ref: use}, proposals=task.proposals + 1)
    steps: tuple[EventName, ...] = ("proposed", "admitted") if at_once else ("proposed",)
    return after, tuple(_event(task, name, time, rule=rule) for name in steps)


def repair(task: Task, rule: Rule, time: float, *, at_once: bool = False) -> tuple[Task, tuple[PoolEvent, ...]]:
    """Take a more conservative rule in the place of its parent, which must be frozen; each parent has one."""
    children = {use.rule.parent for use in task.uses.values()}
    frozen = {use.rule.id for use in task.uses.values() if use.is_frozen}
    if rule.parent not in frozen or rule.parent in children or rule.id == rule.parent:
        return task, ()
    return propose(task, rule, time, at_once=at_once)


def may_propose(task: Task) -> bool:
    """Whether the task has a proposal left."""
    return task.proposals < task.numbers.proposals_per_task


def is_uncovered(task: Task, observation: Observation) -> bool:
    """Whether an observation is large and no rule's trigger fits its command, be that rule frozen or not."""
    if len(observation.text) <= task.numbers.uncovered_chars or not observation.command:
        return False
    return not which([use.rule.trigger.pattern for use in task.uses.values()], observation.command)


def replan(task: Task, selection: Selection, time: float) -> tuple[Task, tuple[PoolEvent, ...]]:
    """Go on with what a planner selected; what is frozen stays frozen, and of what it left out the pool is told now."""
    planned = start(selection, task.session, tenant=task.tenant, place=task.place, numbers=task.numbers).uses
    uses = {ref: task.uses.get(ref, use) for ref, use in planned.items()}
    uses |= {ref: use for ref, use in task.uses.items() if use.is_frozen}
    left = (use for ref, use in task.uses.items() if ref not in uses)
    return replace(task, uses=uses), tuple(event for use in left for event in _told(task, use, time))


def end(task: Task, time: float) -> tuple[PoolEvent, ...]:
    """What the task tells the pool: what it applied since it last did, if that is enough and trusted."""
    told = [event for use in task.uses.values() for event in _told(task, use, time)]
    return (*told, _event(task, "ended", time))


def renew(task: Task) -> Task:
    """The task after its end was told, should the session go on: frozen rules stay so, nothing is told twice."""
    uses = {
        ref: replace(use, applied=0, removed=0, is_new=use.is_new and not use.applied) for ref, use in task.uses.items()
    }
    return replace(task, uses=uses)


def _removed(decision: Decision) -> Mapping[RuleRef, int]:
    found: dict[RuleRef, int] = {}
    for form in decision.forms if isinstance(decision, Rewritten) else ():
        for item in form.applied:
            found[item.rule] = max(item.removed, found.get(item.rule, 0))
    return found


def _complained(task: Task, use: Use, complaint: Complaint, time: float) -> Iterator[PoolEvent]:
    if use.is_new:
        reason = f"complained about in the task that made it: {use.complaint}"
        yield _event(task, "refused", time, rule=use.rule, data={"reason": reason})
        return
    evidence = "; ".join(complaint.evidence)
    data = {"signal": complaint.name, "key": complaint.key, "evidence": evidence, "weight": complaint.weight}
    yield _event(task, "complained", time, ref=ref_of(use.rule), data=data)
    yield _event(task, "frozen", time, ref=ref_of(use.rule))


def _told(task: Task, use: Use, time: float) -> Iterator[PoolEvent]:
    numbers = task.numbers
    if use.is_frozen or use.applied < numbers.write_back_applied or use.confidence < numbers.write_back_confidence:
        return
    data = {"applied": use.applied, "removed": use.removed, "confidence": use.confidence, "place": task.place}
    rule, ref = (use.rule, None) if use.is_new else (None, ref_of(use.rule))
    yield _event(task, "applied" if use.in_shadow else "written_back", time, rule=rule, ref=ref, data=data)


def _event(
    task: Task,
    name: EventName,
    time: float,
    *,
    rule: Rule | None = None,
    ref: RuleRef | None = None,
    data: Mapping[str, object] | None = None,
) -> PoolEvent:
    return PoolEvent(
        name=name, rule=rule, ref=ref, tenant=task.tenant, session=task.session, time=time, data=data or {}
    )
