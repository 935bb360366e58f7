"""Which rules of the pool are used in one task: the best that have to do with it, and some that are in trial.

Slots that foreign rules would take go to the next in rank. What is left out has a reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from itertools import islice

from rules_engine.evolution.entries import Entry, place_key
from rules_engine.evolution.events import ref_of
from rules_engine.evolution.naming import foreign, words
from rules_engine.evolution.numbers import Numbers
from rules_engine.evolution.pool import Pool, ranking
from rules_engine.types import Rule, RuleRef, RuleSet, Settings

Excluded = tuple[tuple[RuleRef, str], ...]
Refuse = Callable[[Entry], str]
"""Why a rule has no business in a task; "" where it has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What can be known of a task before it begins."""

    agent: str = ""
    tools: frozenset[str] = frozenset()
    first_message: str = ""
    marks: frozenset[str] = frozenset()
    """Names of files in the repository that say what it is, e.g. ``go.mod``."""
    repository: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The rules of one task."""

    rules: tuple[Rule, ...] = ()
    """In the order in which they are tried."""
    shadow: tuple[Rule, ...] = ()
    """Decided, and not applied."""
    made: tuple[Rule, ...] = ()
    """Rules among both that the planner made for this task and that the pool does not have yet."""
    explain: Callable[[], Excluded] = field(default=tuple, compare=False, repr=False)
    """Called to find out why each other rule is left out; it is not done at once, since it takes longer than choosing."""

    @property
    def excluded(self) -> Excluded:
        """The others, each with the reason."""
        return self.explain()

    def ruleset(self, settings: Settings, version: int = 1) -> RuleSet:
        """The rules as the engine takes them."""
        return RuleSet(version=version, rules=self.rules, settings=settings)


def select(pool: Pool, facts: Facts, settings: Settings, session: str) -> Selection:
    """Choose without a model: by what the trigger names and where the rule comes from."""
    task = words((facts.agent, *facts.tools, facts.first_message, *facts.marks, facts.repository))
    here = place_key(facts.repository)

    def refuse(entry: Entry) -> str:
        return _off(entry, settings) or _foreign(entry, facts, task, here, pool.numbers.generic_places)

    return _choose(pool, refuse, session)


def select_planned(
    pool: Pool,
    chosen: Sequence[str],
    made: Sequence[Rule],
    settings: Settings,
    session: str,
    *,
    at_once: bool = False,
) -> Selection:
    """Use what a planner chose by id, and what it made: a changed rule names the one that it stands for as its parent.

    What it made is decided in shadow or, as in the paper, applied `at_once`; then it must have been admitted before.
    """
    plan = (*chosen, *(rule.id for rule in made))
    kept = frozenset(list(dict.fromkeys(plan))[: pool.numbers.plan_most])
    mine = tuple(rule for rule in made if rule.id in kept)
    instead = {rule.parent: rule.id for rule in mine if at_once and rule.parent}

    def refuse(entry: Entry) -> str:
        if entry.rule.id in instead:
            return f"the planner changed it: `{instead[entry.rule.id]}` is used"
        return _off(entry, settings) or _unplanned(entry, plan, kept)

    found = _choose(pool, refuse, session)
    known = {name for name, _ in pool.entries}
    lost = [((name, 0), "the planner named it; there is no such rule") for name in chosen if name not in known]
    lost += [(ref_of(rule), _too_many(kept)) for rule in made if rule.id not in kept]
    return Selection(
        rules=_ordered((*found.rules, *mine)) if at_once else found.rules,
        shadow=found.shadow if at_once else (*found.shadow, *mine),
        made=mine,
        explain=lambda: (*found.excluded, *lost),
    )


def in_share(session: str, name: str, share: float) -> bool:
    """Whether a session is one of those that try a rule: the same ones for a rule always, others for another."""
    return _draw(session, name) < share * 2**32


def _draw(session: str, name: str) -> int:
    digest = blake2b(f"{session}\0{name}".encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return int.from_bytes(digest)


def _choose(pool: Pool, refuse: Refuse, session: str) -> Selection:
    best = ranking(pool)
    fitting = tuple(islice((entry for entry in best if not refuse(entry)), pool.numbers.top_k))
    waiting = _in_trial(pool, session)
    tried = tuple(
        islice((e for e in waiting if not (refuse(e) or _not_in(e, pool.numbers, session))), pool.numbers.trial_rules)
    )
    used = {e.rule.id: e for e in (*fitting, *(e for e in tried if e.stage == "canary"))}
    return Selection(
        rules=_ordered(entry.current() for entry in used.values()),
        shadow=tuple(entry.current() for entry in tried if entry.stage == "shadow"),
        explain=partial(_explain, pool, refuse, session, used, tried),
    )


def _explain(pool: Pool, refuse: Refuse, session: str, used: Mapping[str, Entry], tried: Sequence[Entry]) -> Excluded:
    """Why each rule is left out that is neither used nor tried."""
    numbers = pool.numbers
    reasons = {entry.ref: refuse(entry) for entry in ranking(pool)}
    fitting = [ref for ref, reason in reasons.items() if not reason]
    for place, ref in enumerate(fitting[numbers.top_k :], numbers.top_k + 1):
        reasons[ref] = f"rank {place} of those that fit: the first {numbers.top_k} are used"
    for entry in _in_trial(pool, session):
        others = f"in trial: {len(tried)} others are tried here"
        reasons[entry.ref] = refuse(entry) or _not_in(entry, numbers, session) or others
    taken = {entry.ref for entry in (*used.values(), *tried)}
    left = [entry for ref, entry in pool.entries.items() if ref not in taken]
    return tuple((e.ref, reasons.get(e.ref) or _unfit(e, used.get(e.rule.id), numbers)) for e in left)


def _in_trial(pool: Pool, session: str) -> list[Entry]:
    """In another order in each session, so that none waits for ever behind one that never applies."""
    waiting = [entry for entry in pool.entries.values() if entry.stage in ("shadow", "canary")]
    return sorted(waiting, key=lambda e: (e.stage != "canary", _draw(session, e.rule.id), e.ref))


def _not_in(entry: Entry, numbers: Numbers, session: str) -> str:
    """Why a rule is not tried in this session."""
    if entry.stage == "canary" and not in_share(session, entry.rule.id, numbers.canary_share):
        return f"in trial, in {numbers.canary_share:.0%} of the sessions: not in this one"
    return ""


def _unfit(entry: Entry, better: Entry | None, numbers: Numbers) -> str:
    """Why a rule is not even asked for: where it stands, or what stands in its place."""
    if entry.stage != "live":
        return f"{entry.stage}: {entry.reason}" if entry.reason else entry.stage
    if entry.confidence < numbers.runtime_off:
        return f"confidence {entry.confidence:.2f} is under {numbers.runtime_off:g}"
    return f"version {better.rule.version} is used" if better else "a later version stands in its place"


def _off(entry: Entry, settings: Settings) -> str:
    return "switched off in the configuration" if entry.rule.id in settings.disabled else ""


def _foreign(entry: Entry, facts: Facts, task: frozenset[str], here: str, places: int) -> str:
    evidence = entry.rule.evidence
    sources = evidence.get("sources", 0)
    count = sources if isinstance(sources, int) else len(_listed(sources))
    if max(count, len(entry.places)) >= places:
        return ""
    if facts.repository and (here in entry.places or facts.repository in _listed(sources)):
        return ""
    for there, mine in ((evidence.get("agents"), {facts.agent} - {""}), (evidence.get("tools"), facts.tools)):
        if mine and (known := _listed(there)) and not known & mine:
            return f"learned with {', '.join(sorted(known))}: not in this task"
    return foreign(entry.named, task, facts.marks) if task else ""


def _listed(value: object) -> frozenset[str]:
    return frozenset(map(str, value)) if isinstance(value, list | tuple | frozenset) else frozenset()


def _unplanned(entry: Entry, plan: Sequence[str], kept: frozenset[str]) -> str:
    if entry.rule.id in kept or entry.stage in ("shadow", "canary"):
        return ""
    return _too_many(kept) if entry.rule.id in plan else "the planner left it out"


def _too_many(kept: frozenset[str]) -> str:
    return f"a plan has at most {len(kept)} rules"


def _ordered(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    return tuple(sorted(rules, key=lambda rule: (rule.priority, rule.id)))
