"""One rule in a pool: all that is known of it, kept so that the order in which sessions' events arrive does not matter.

Counts are sums, places and ends of tasks are sets cut by value, and of several claims to a stage the largest counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from math import inf
from typing import Literal, get_args

from rules_engine.evolution.events import EventName, PoolEvent, content_key, ref_of
from rules_engine.evolution.naming import names
from rules_engine.evolution.numbers import Numbers
from rules_engine.types import Rule, RuleRef

Stage = Literal["proposed", "shadow", "canary", "live", "refused", "retired", "disabled"]

STAGES: tuple[Stage, ...] = get_args(Stage)
"""In the order in which a rule goes through them by itself; it never goes back."""

OVER: frozenset[Stage] = frozenset({"refused", "retired"})

Outcome = tuple[float, str, float]
"""The end of a task for a rule: time, session, confidence at its end; 0.0 is a complaint, as in the task itself."""


@dataclass(frozen=True, slots=True, order=True)
class Standing:
    """A claim to a stage; of several the largest counts."""

    weight: float
    """By itself: how far the stage is. By hand: the time."""
    earlier: float
    """Minus the time, so that of two equal claims the earlier one counts; 0 by hand."""
    stage: Stage
    reason: str
    lifts: bool = False
    """By hand: it only takes back what switched the rule off; else the rule goes on by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A rule with its stage, its confidence and its counts."""

    rule: Rule
    tenant: str
    """Whose it is; "" for the shared pool."""
    claim: tuple[int, float, str]
    """(by hand or not, time or minus time, key of the content): of rules that want one name and version the largest counts,
    that is the one that a person imported last, else the one that was proposed first."""
    named: tuple[str, ...]
    """Programs, words and files that its trigger spells out."""
    lives: Mapping[str, Standing]
    """Key of the content → how far that rule came by itself. There are several only where rules want one name and version."""
    hand: Standing | None = None
    since: float = -inf
    """When a person last put it in use; complaints from before that do not count."""
    confidence: float = 1.0
    counted: int = 0
    complaints: int = 0
    removed: int = 0
    """Characters that it saved in the sessions that wrote it back."""
    sessions: int = 0
    """How many sessions wrote it back."""
    shadowed: int = 0
    """Outputs that it would have rewritten in shadow."""
    shadow_sessions: int = 0
    """How many sessions those outputs were in."""
    places: frozenset[str] = frozenset()
    """Repositories that it was written back from, as digests; no more than it takes to be generic."""
    used: float = -inf
    """When it was last applied."""
    ends: tuple[Outcome, ...] = ()

    @property
    def ref(self) -> RuleRef:
        """Its name in events and decisions."""
        return ref_of(self.rule)

    @property
    def content(self) -> str:
        """Key of what the rule does, see `content_key`."""
        return self.claim[2]

    @property
    def life(self) -> Standing:
        """How far the rule came without a person's hand."""
        return self.lives[self.content]

    @property
    def stage(self) -> Stage:
        """The stage that counts: the one that a person set, else the one that the rule came to by itself."""
        if self.hand is None or (self.hand.lifts and self.life.stage not in OVER):
            return self.life.stage
        return self.hand.stage

    @property
    def reason(self) -> str:
        """Why the rule stands at its stage; "" where nobody said."""
        return self.hand.reason if self.hand else self.life.reason

    @property
    def applied(self) -> int:
        """The ``n`` of the score: applications that were written back, and those that it came with."""
        return self.rule.times_applied + self.counted

    @property
    def complained(self) -> int:
        """Tasks that complained, and those that it came with."""
        return self.rule.times_complained + self.complaints

    @property
    def is_disputed(self) -> bool:
        """Whether a session complained since a person last put it in use."""
        return any(confidence == 0 and time > self.since for time, _, confidence in self.ends)

    def current(self) -> Rule:
        """The rule with its confidence and counts as they are now."""
        n, complained = self.applied, self.complained
        if (self.confidence, self.counted, self.complaints) == (self.rule.confidence, 0, 0):
            return self.rule
        return replace(self.rule, confidence=self.confidence, times_applied=n, times_complained=complained)


def score(entry: Entry) -> float:
    """The paper's ``R(r) = c * (n + 1)``."""
    return entry.confidence * (entry.applied + 1)


def place_key(repository: str) -> str:
    """Names a repository without saying which it is."""
    return blake2b(repository.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def take(entry: Entry | None, event: PoolEvent, numbers: Numbers) -> Entry | None:
    """The entry after an event about it, not yet settled. An event about a rule that nobody knows changes nothing."""
    if event.rule is not None:
        entry = _teach(entry, event.rule, event, numbers)
    if entry is None:
        return None
    step = _STEPS.get(event.name)
    return step(entry, event, numbers) if step else entry


def settle(entry: Entry, numbers: Numbers) -> Entry:
    """The entry with the confidence that its ends of tasks come to, oldest first."""
    confidence = entry.rule.confidence
    for time, _, end in entry.ends:
        if time <= entry.since:
            continue
        confidence = confidence * numbers.complaint_decay if end == 0 else _fuse(confidence, end, numbers.fusion_old)
    return replace(entry, confidence=confidence)


def put(entry: Entry, event: PoolEvent, stage: Stage, reason: str, *, lifts: bool = False) -> Entry:
    """The entry after a person set its stage."""
    hand = Standing(event.time, 0.0, stage, event.text("reason") or reason, lifts)
    since = max(entry.since, event.time) if stage == "live" else entry.since
    return replace(entry, hand=max(hand, entry.hand or hand), since=since)


def _teach(entry: Entry | None, rule: Rule, event: PoolEvent, numbers: Numbers) -> Entry:
    by_hand = event.name == "imported"
    if not by_hand:
        rule = replace(rule, confidence=numbers.initial_confidence, times_applied=0, times_complained=0)
    key = content_key(rule)
    claim = (1, event.time, key) if by_hand else (0, -event.time, key)
    if entry is None:
        entry = Entry(rule=rule, tenant=event.tenant, claim=claim, named=names(rule.trigger.pattern), lives={})
    elif claim > entry.claim:
        entry = replace(entry, rule=rule, tenant=event.tenant, claim=claim, named=names(rule.trigger.pattern))
    return _go(entry, event, "proposed")


def _go(entry: Entry, event: PoolEvent, stage: Stage) -> Entry:
    # What is found out about one rule must not hold for another that wants its name.
    key = content_key(event.rule) if event.rule is not None else entry.content
    life = Standing(STAGES.index(stage), -event.time, stage, event.text("reason"))
    return replace(entry, lives={**entry.lives, key: max(life, entry.lives.get(key, life))})


def _promote(entry: Entry, event: PoolEvent, numbers: Numbers) -> Entry:
    return _go(entry, event, "live" if event.text("stage") == "live" else "canary")


def _retire(entry: Entry, event: PoolEvent, numbers: Numbers) -> Entry:
    return put(entry, event, "retired", "by hand") if event.data.get("by") == "hand" else _go(entry, event, "retired")


def _import(entry: Entry, event: PoolEvent, numbers: Numbers) -> Entry:
    if event.text("stage") == "shadow":
        return _go(entry, event, "shadow")
    return put(_go(entry, event, "live"), event, "live", "imported")


def _shadow(entry: Entry, event: PoolEvent, numbers: Numbers) -> Entry:
    shadowed, sessions = entry.shadowed + event.count("applied"), entry.shadow_sessions + 1
    return replace(entry, shadowed=shadowed, shadow_sessions=sessions, used=max(entry.used, event.time))


def _complain(entry: Entry, event: PoolEvent, numbers: Numbers) -> Entry:
    return replace(entry, complaints=entry.complaints + 1, ends=_ends(entry, event, 0.0, numbers))


def _write_back(entry: Entry, event: PoolEvent, numbers: Numbers) -> Entry:
    place = event.text("place")
    places = entry.places | ({place_key(place)} if place else set())
    return replace(
        entry,
        counted=entry.counted + event.count("applied"),
        removed=entry.removed + event.count("removed"),
        sessions=entry.sessions + 1,
        places=frozenset(sorted(places)[: numbers.generic_places]),
        used=max(entry.used, event.time),
        ends=_ends(entry, event, event.share("confidence", entry.rule.confidence), numbers),
    )


def _ends(entry: Entry, event: PoolEvent, confidence: float, numbers: Numbers) -> tuple[Outcome, ...]:
    return tuple(sorted((*entry.ends, (event.time, event.session, confidence)))[-numbers.outcomes :])


def _fuse(old: float, new: float, share: float) -> float:
    return share * old + (1 - share) * new


_STEPS: Mapping[EventName, Callable[[Entry, PoolEvent, Numbers], Entry]] = {
    "admitted": lambda entry, event, _: _go(entry, event, "shadow"),
    "refused": lambda entry, event, _: _go(entry, event, "refused"),
    "promoted": _promote,
    "retired": _retire,
    "applied": _shadow,
    "complained": _complain,
    "written_back": _write_back,
    "disabled": lambda entry, event, _: put(entry, event, "disabled", "by hand"),
    "enabled": lambda entry, event, _: put(entry, event, "live", "by hand", lifts=True),
    "imported": _import,
}
