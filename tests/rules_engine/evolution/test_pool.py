"""The pool: the paper's numbers, the defects of the released code that are not ours, and the laws of the fold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.evolution.pool import (
    EMPTY,
    Entry,
    Numbers,
    Pool,
    PoolEvent,
    batch,
    due,
    find,
    fold,
    imports,
    is_converged,
    ranking,
    retention,
    retentions,
    score,
    top,
)
from rules_engine.types import Rule, RuleRef, Trigger

X: RuleRef = ("x", 1)


def rule(name: str = "x", **fields: Any) -> Rule:
    """A rule that differs from those of other names."""
    plain: dict[str, Any] = {"params": {"strip_patterns": [f"^{name} "]}, "trigger": Trigger(pattern=rf"\b{name}\b")}
    return Rule(id=name, kind="line_filter", **(plain | fields))


def live(*names: str, pool: Pool = EMPTY) -> Pool:
    """A pool in which these rules are live by their own merit."""
    events = [
        event
        for name in names
        for event in (
            PoolEvent(name="proposed", rule=rule(name)),
            PoolEvent(name="admitted", ref=(name, 1)),
            PoolEvent(name="promoted", ref=(name, 1), data={"stage": "live"}),
        )
    ]
    return fold(pool, events)


def back(ref: RuleRef = X, *, time: float = 1, session: str = "s", applied: int = 1, **data: Any) -> PoolEvent:
    """A task that ended without complaint."""
    return PoolEvent(
        name="written_back", ref=ref, session=session, time=time, data={"applied": applied, "confidence": 1.0, **data}
    )


def complaint(ref: RuleRef = X, *, time: float = 1, session: str = "s") -> PoolEvent:
    """A task that complained."""
    return PoolEvent(name="complained", ref=ref, session=session, time=time)


def hand(name: Any, ref: RuleRef = X, time: float = 9, **data: Any) -> PoolEvent:
    """What an operator does."""
    return PoolEvent(name=name, ref=ref, time=time, data=data)


def entry_after(*events: PoolEvent, pool: Pool | None = None) -> Entry:
    """The entry of rule x after these events."""
    return fold(pool if pool is not None else live("x"), events).entries[X]


@pytest.mark.parametrize(
    ("events", "confidence"),
    [
        pytest.param([], 1.0, id="paper: a new rule starts at 1.0"),
        pytest.param([back(confidence=1.0)], 1.0, id="a good task at full confidence changes nothing"),
        pytest.param([complaint()], 0.5, id="code: a complaint halves it"),
        pytest.param([complaint(), complaint(time=2)], 0.25, id="code: two complaints quarter it"),
        pytest.param([back(confidence=0.4)], 0.7 + 0.3 * 0.4, id="code: 0.7 of the old and 0.3 of the task's"),
        pytest.param(
            [complaint(), back(time=2, confidence=0.525)],
            0.7 * 0.5 + 0.3 * 0.525,
            id="defect: confidence rises again after a good task",
        ),
        pytest.param(
            [back(time=2, confidence=0.525), complaint(time=1)],
            0.7 * 0.5 + 0.3 * 0.525,
            id="what ended first counts first, whenever it is heard of",
        ),
    ],
)
def test_confidence_in_the_pool(events: Sequence[PoolEvent], confidence: float) -> None:
    """Ends of tasks are fused, complaints decay."""
    assert entry_after(*events).confidence == pytest.approx(confidence)


@pytest.mark.parametrize(
    ("confidence", "applied", "expected"),
    [(1.0, 0, 1.0), (1.0, 9, 10.0), (0.5, 9, 5.0), (0.0, 9, 0.0)],
    ids=["never applied", "applied nine times", "doubted", "not trusted at all"],
)
def test_paper_score(confidence: float, applied: int, expected: float) -> None:
    """``R(r) = c * (n + 1)``."""
    made = rule(confidence=confidence, times_applied=applied)
    assert score(entry_after(PoolEvent(name="imported", rule=made, time=1), pool=EMPTY)) == expected


@pytest.mark.parametrize(("rules", "used"), [(0, 0), (29, 29), (30, 30), (31, 30)])
def test_paper_top_30(rules: int, used: int) -> None:
    """Thirty rules at most are candidates, the best first."""
    names = [f"r{k:02}" for k in range(rules)]
    pool = fold(live(*names), [back((name, 1), applied=k) for k, name in enumerate(names)])

    assert [entry.rule.id for entry in top(pool)] == names[::-1][:used]


def test_a_proposed_rule_begins_without_a_past() -> None:
    """Whatever its author says: confidence 1.0 and no applications."""
    boast = rule(confidence=0.1, times_applied=999, times_complained=3)
    entry = entry_after(PoolEvent(name="proposed", rule=boast), pool=EMPTY)
    assert (entry.confidence, entry.applied, entry.complained) == (1.0, 0, 0)


def test_places_are_counted_as_far_as_it_matters() -> None:
    """Three repositories are enough, and which they are cannot be read off the pool."""
    entry = entry_after(*(back(place=f"repository {k}") for k in range(9)))
    assert len(entry.places) == 3
    assert not any("repository" in place for place in entry.places)


@pytest.mark.parametrize(
    ("events", "is_on"),
    [
        pytest.param([PoolEvent(name="imported", rule=rule(confidence=0.3), time=1)], True, id="exactly 0.3"),
        pytest.param([], True, id="a new rule"),
        pytest.param([complaint()], True, id="0.5"),
        pytest.param([complaint(), complaint(time=2)], False, id="code: 0.25 is under 0.3"),
        pytest.param([complaint(time=1), complaint(time=2), hand("enabled", time=3)], True, id="put in use by hand"),
    ],
)
def test_code_runtime_off(events: Sequence[PoolEvent], *, is_on: bool) -> None:
    """Under 0.3 a rule is off, and takes no slot of the top, as it does in the released code."""
    assert bool(ranking(fold(live("x"), events))) is is_on


def test_defect_lost_updates() -> None:
    """Two tasks that both began at n = 10 and add 5 and 3 leave 18; the released code leaves 15."""
    began = entry_after(PoolEvent(name="imported", rule=rule(times_applied=10), time=0), pool=EMPTY)
    assert began.applied == 10
    after = entry_after(back(applied=5), back(applied=3, session="t"), pool=replace(EMPTY, entries={X: began}))
    assert after.applied == 18


def test_defect_complaints_are_counted_once_each() -> None:
    """Complaints of several tasks add up."""
    assert entry_after(complaint(), complaint(session="t"), complaint(session="u")).complained == 3


def test_defect_half_a_fusion() -> None:
    """A changed rule is a version of its own with its own trigger, ends, cap and priority: nothing is mixed."""
    changed = rule(trigger=Trigger(pattern="other"), params={"keep_first_n": 1, "max_lines": 3}, priority=31)
    (event,) = imports(live("x"), [changed], "", 5)
    pool = fold(live("x"), [event])

    assert pool.entries[X].rule.trigger.pattern == r"\bx\b"
    assert pool.entries[("x", 2)].rule == replace(changed, version=2)
    assert [entry.ref for entry in top(pool)] == [("x", 2)]


def test_a_rule_that_is_imported_again_is_not_counted_twice() -> None:
    """A file that this pool was exported to changes nothing when it comes back."""
    pool = fold(live("x"), [back(applied=7)])
    events = imports(pool, [pool.entries[X].current()], "", 5)

    assert [event.name for event in events] == ["enabled"]
    assert fold(pool, events).entries[X].applied == 7


def test_versions_of_one_file_do_not_collide() -> None:
    """Two versions that are both new keep apart."""
    pool = live("x")
    events = imports(pool, [rule(priority=1, on_failing=True), rule(params={})], "", 5)
    assert sorted(fold(pool, events).entries) == [X, ("x", 2), ("x", 3)]


def test_defect_no_eviction() -> None:
    """The pool is bounded: what was refused or retired longest ago is forgotten first, then what is worth least."""
    small = replace(EMPTY, numbers=Numbers(entries=3))
    pool = live("a", "b", "c", pool=small)
    pool = fold(pool, [back(("a", 1)), hand("retired", ("b", 1), 2), hand("retired", ("c", 1), 1)])

    pool = live("d", pool=pool)
    assert [name for name, _ in pool.entries] == ["a", "b", "d"]
    pool = live("e", "f", pool=pool)
    assert [name for name, _ in pool.entries] == ["a", "e", "f"]


def test_age_costs_rank_only() -> None:
    """A rule that is never applied stays live and falls behind."""
    pool = fold(live("old", "new"), [back(("new", 1), time=10**9)])
    assert [entry.rule.id for entry in ranking(pool)] == ["new", "old"]
    assert due(pool, "", 2 * 10**9) == ()


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param(range(29), range(30), None, id="undefined with 29 rules before"),
        pytest.param(range(30), range(29), None, id="undefined with 29 rules after"),
        pytest.param(range(30), range(30), 1.0, id="nothing changed"),
        pytest.param(range(30), range(3, 33), 0.9, id="three are new"),
        pytest.param(range(30), range(30, 60), 0.0, id="all are new"),
    ],
)
def test_paper_retention_at_30(before: Iterable[int], after: Iterable[int], expected: float | None) -> None:
    """Share of the top thirty that was there before."""
    assert retention([str(k) for k in before], [str(k) for k in after], 30) == expected


def ended(tasks: int) -> list[PoolEvent]:
    """So many tasks end."""
    return [PoolEvent(name="ended", session=f"s{k}") for k in range(tasks)]


def measured(pool: Pool, time: float = 1) -> Pool:
    """Four more tasks, and the measurement that is due then."""
    pool = fold(pool, ended(4))
    event = batch(pool, "", time)
    assert event is not None
    return fold(pool, [event])


@pytest.mark.parametrize(("tasks", "is_due"), [(0, False), (3, False), (4, True), (5, True)])
def test_paper_batch_of_four(tasks: int, *, is_due: bool) -> None:
    """The top is measured after four tasks."""
    assert (batch(fold(EMPTY, ended(tasks)), "", 1) is not None) is is_due


def test_a_batch_is_measured_once() -> None:
    """Two processes that both find it due count as one measurement, the first."""
    pool = fold(live("x"), ended(4))
    first, second = batch(pool, "", 1), batch(fold(pool, ended(1)), "", 2)
    assert first is not None
    assert second is not None
    after = fold(pool, [second, first])
    assert after == fold(pool, [first, second])
    assert {number: time for number, (time, _) in after.tops.items()} == {1: 1}
    assert batch(after, "", 3) is None


def test_paper_convergence_and_what_reopens_it() -> None:
    """Converged at 90 % in three batches on end; a fall ends that."""
    names = [f"r{k:02}" for k in range(30)]
    pool = fold(live(*names), [back((name, 1), applied=5) for name in names])
    assert not is_converged(pool)
    for time in (1, 2, 3):
        pool = measured(pool, time)
        assert not is_converged(pool)
    pool = measured(pool, 4)
    assert retentions(pool) == (1.0, 1.0, 1.0)
    assert is_converged(pool)

    fresh = [f"new{k}" for k in range(4)]
    pool = fold(live(*fresh, pool=pool), [back((name, 1), applied=9) for name in fresh])
    pool = measured(pool, 5)
    assert retentions(pool)[-1] == pytest.approx(26 / 30)
    assert not is_converged(pool)


def test_a_small_pool_never_converges() -> None:
    """With 29 live rules there is nothing to say."""
    pool = live(*(f"r{k:02}" for k in range(29)))
    for time in range(6):
        pool = measured(pool, time)
    assert retentions(pool) == (None, None, None)
    assert not is_converged(pool)


def test_retention_sees_what_rules_do_and_not_their_names() -> None:
    """The same rules under other names are the same top."""
    names = [f"r{k:02}" for k in range(30)]
    pool = measured(live(*names))
    same = [replace(rule(name), id=f"copy {name}") for name in names]
    renamed = fold(replace(EMPTY, tops=pool.tops, ended=pool.ended), imports(EMPTY, same, "", 1))
    assert retentions(measured(renamed, 2)) == (1.0,)


def test_the_stages_of_a_rule_that_does_well() -> None:
    """Proposed, decided and not applied, tried in some sessions, live."""
    pool = fold(EMPTY, [PoolEvent(name="proposed", rule=rule())])
    assert (pool.entries[X].stage, due(pool, "", 1)) == ("proposed", ())
    pool = fold(pool, [PoolEvent(name="admitted", ref=X)])
    for k, expected in enumerate(["shadow", "shadow", "canary"]):
        pool = fold(pool, [PoolEvent(name="applied", ref=X, session=str(k), data={"applied": 4})])
        pool = fold(pool, due(pool, "", k))
        assert pool.entries[X].stage == expected
    assert ranking(pool) == []
    for k, expected in enumerate(["canary", "canary", "live"]):
        pool = fold(pool, [back(session=str(k), applied=4)])
        pool = fold(pool, due(pool, "", k))
        assert pool.entries[X].stage == expected


@pytest.mark.parametrize(
    ("stage", "events", "reason"),
    [
        pytest.param("shadow", [complaint()], "complained about in shadow", id="a complaint in shadow"),
        pytest.param("canary", [complaint()], "complained about in canary", id="a complaint in the trial"),
        pytest.param("live", [complaint()], "", id="one complaint about a live rule"),
        pytest.param("live", [complaint(), complaint(time=2)], "confidence 0.25 is under 0.3", id="two of them"),
    ],
)
def test_rules_that_fail_are_retired(stage: str, events: Sequence[PoolEvent], reason: str) -> None:
    """A trial fails by one complaint, a live rule by losing trust; the reason stays."""
    begun = [PoolEvent(name="proposed", rule=rule()), PoolEvent(name="admitted", ref=X)]
    begun += [PoolEvent(name="promoted", ref=X, data={"stage": stage})] if stage != "shadow" else []
    pool = fold(EMPTY, [*begun, *events])
    after = fold(pool, due(pool, "", 5)).entries[X]

    assert after.stage == ("retired" if reason else "live")
    assert after.reason == reason


@pytest.mark.parametrize(
    ("hands", "stage"),
    [
        pytest.param([hand("disabled")], "disabled", id="switched off"),
        pytest.param([hand("disabled"), hand("enabled", time=10)], "live", id="and on again"),
        pytest.param([hand("enabled"), hand("disabled", time=8)], "live", id="the later hand wins, whichever is heard last"),
        pytest.param([hand("retired", by="hand")], "retired", id="retired"),
        pytest.param([hand("disabled"), back(time=99), hand("promoted", time=99)], "disabled", id="no success undoes it"),
        pytest.param([hand("enabled"), hand("retired", time=99, reason="by itself")], "live", id="nothing automatic undoes it"),
    ],
)  # fmt: skip
def test_the_operators_hand_wins(hands: Sequence[PoolEvent], stage: str) -> None:
    """What a person says holds, whatever is found out before or after."""
    for events in (hands, hands[::-1]):
        assert entry_after(*events).stage == stage


def test_enabling_a_rule_in_trial_does_not_make_it_live() -> None:
    """It only undoes the switching off."""
    pool = fold(EMPTY, [PoolEvent(name="proposed", rule=rule()), PoolEvent(name="admitted", ref=X)])
    assert entry_after(hand("disabled"), hand("enabled", time=10), pool=pool).stage == "shadow"


def test_a_rule_that_was_enabled_goes_on_by_itself() -> None:
    """Its trial ends as that of any other."""
    pool = fold(EMPTY, [PoolEvent(name="proposed", rule=rule()), PoolEvent(name="admitted", ref=X), hand("enabled")])
    pool = fold(pool, [PoolEvent(name="applied", ref=X, data={"applied": 9}, session=str(k)) for k in range(3)])
    assert [(event.name, event.text("stage")) for event in due(pool, "t", 10)] == [("promoted", "canary")]
    assert due(fold(pool, [hand("disabled", time=11)]), "t", 12) == ()


def test_enabling_forgives() -> None:
    """A rule that had lost all trust begins anew; its counts stay."""
    after = entry_after(complaint(), complaint(time=2), hand("enabled", time=3))
    assert (after.confidence, after.complained, after.is_disputed) == (1.0, 2, False)
    assert entry_after(complaint(), hand("enabled", time=3), complaint(time=4)).confidence == 0.5


def test_versions_are_rolled_back() -> None:
    """The version that is named is in use again, later ones are retired, and say why."""
    pool = live("x", "y")
    pool = fold(pool, imports(pool, [rule(params={"max_lines": 3})], "", 5))
    assert [entry.ref for entry in top(pool)] == [("x", 2), ("y", 1)]

    pool = fold(pool, [hand("rolled_back", X)])
    assert [entry.ref for entry in top(pool)] == [X, ("y", 1)]
    assert pool.entries[("x", 2)].reason == "rolled back to version 1"
    assert fold(pool, [hand("rolled_back", ("z", 1))]).entries == pool.entries
    later = fold(pool, imports(pool, [rule(params={"max_lines": 4})], "", 10))
    back_to_two = fold(later, [hand("rolled_back", ("x", 2), 11)])
    assert [back_to_two.entries[("x", k)].stage for k in (1, 2, 3)] == ["live", "live", "retired"]


def test_a_tenants_pool_stands_on_the_shared_one() -> None:
    """A tenant's complaints concern the tenant only."""
    shared = [PoolEvent(name="imported", rule=rule(), time=1)]
    own = [complaint(time=2), complaint(time=3), PoolEvent(name="proposed", rule=rule("y"), tenant="t")]
    mine, theirs = fold(fold(EMPTY, shared), own), fold(EMPTY, shared)

    assert (ranking(mine), len(ranking(theirs))) == ([], 1)
    assert {entry.tenant for entry in mine.entries.values()} == {"", "t"}


def test_what_was_refused_is_found_by_what_it_does() -> None:
    """Nobody has to propose it again under another name."""
    pool = fold(EMPTY, [PoolEvent(name="refused", rule=rule(), data={"reason": "loses a verdict"})])
    found = find(pool, replace(rule(), id="another"))
    assert found is not None
    assert (found.stage, found.reason) == ("refused", "loses a verdict")
    assert find(pool, rule("y")) is None


def test_an_event_about_a_rule_that_nobody_knows_changes_nothing() -> None:
    """Neither an unknown rule nor no rule at all."""
    assert fold(EMPTY, [back(), complaint(), hand("enabled"), PoolEvent(name="admitted")]) == EMPTY


def test_a_batch_event_that_is_damaged_changes_nothing() -> None:
    """A measurement without a number or a list is none."""
    assert fold(EMPTY, [PoolEvent(name="batch", data={"number": 1, "top": "x"}), PoolEvent(name="batch")]) == EMPTY


def test_a_name_that_two_rules_want() -> None:
    """The first proposal has it, whichever is heard first, and what was found out about the other does not pass to it."""
    first = PoolEvent(name="proposed", rule=rule(), time=1)
    other = rule(params={"max_lines": 1})
    later = [PoolEvent(name=name, rule=other, time=2) for name in ("proposed", "admitted")]  # type: ignore[arg-type]
    for events in ([first, *later], [*later, first]):
        entry = fold(EMPTY, events).entries[X]
        assert (entry.rule.params, entry.stage) == (rule().params, "proposed")


def sessions() -> st.SearchStrategy[list[list[PoolEvent]]]:
    """What several sessions report: about rules that there are, and about new ones, two of them of one name."""
    refs = st.sampled_from([("a", 1), ("b", 1), ("c", 1)])
    data = st.fixed_dictionaries(
        {"applied": st.integers(0, 9), "confidence": st.floats(0.01, 1), "place": st.sampled_from(["", *"pqrst"])}
    )
    known = st.sampled_from(["applied", "complained", "frozen", "written_back", "retired", "ended"])
    fresh = st.sampled_from(["proposed", "admitted", "refused"])
    return st.lists(
        st.lists(
            st.builds(lambda name, ref, data: PoolEvent(name=name, ref=ref, data=data), known, refs, data)
            | st.builds(
                lambda name, new, cap: PoolEvent(name=name, rule=rule(new, params={"max_lines": cap})),
                fresh,
                st.sampled_from("cd"),
                st.integers(1, 2),
            ),
            max_size=6,
        ),
        min_size=2,
        max_size=4,
    )


def stamped(reports: Sequence[Sequence[PoolEvent]]) -> list[list[PoolEvent]]:
    """The same with the session and a time in each event."""
    return [
        [replace(event, session=f"s{k}", time=float(at * 10 + k + 1)) for at, event in enumerate(report)]
        for k, report in enumerate(reports)
    ]


def interleaved(reports: Sequence[Sequence[PoolEvent]], picks: Iterator[int]) -> list[PoolEvent]:
    """One order in which a store may receive what the sessions report."""
    waiting = [list(report) for report in reports if report]
    out = []
    while waiting:
        at = next(picks) % len(waiting)
        out.append(waiting[at].pop(0))
        waiting = [report for report in waiting if report]
    return out


@given(sessions(), st.randoms(use_true_random=False))
def test_any_interleaving_gives_the_same_pool(reports: list[list[PoolEvent]], random: Any) -> None:
    """No update is lost and none counts twice, in whatever order sessions' events arrive."""
    start = live("a", "b", "c")
    picks = iter(lambda: random.randrange(1000), None)
    reports = stamped(reports)
    orders = [interleaved(reports, picks) for _ in range(3)]

    pools = [fold(start, order) for order in orders]
    assert pools[0] == pools[1] == pools[2]
    assert ranking(pools[0]) == ranking(pools[1])


@given(sessions(), st.randoms(use_true_random=False), st.integers(0, 24))
def test_folding_in_parts(reports: list[list[PoolEvent]], random: Any, cut: int) -> None:
    """From a snapshot plus the rest, the pool is what it is from all events at once."""
    events = interleaved(stamped(reports), iter(lambda: random.randrange(1000), None))
    assert fold(fold(EMPTY, events[:cut]), events[cut:]) == fold(EMPTY, events)


@given(sessions())
def test_confidence_stays_within_bounds(reports: list[list[PoolEvent]]) -> None:
    """Whatever is reported, it is a number from 0 to 1, and a score is never negative."""
    pool = fold(live("a", "b", "c"), [event for report in stamped(reports) for event in report])
    assert all(0 <= entry.confidence <= 1 and score(entry) >= 0 for entry in pool.entries.values())


@given(st.lists(st.tuples(st.floats(0.2, 1), st.booleans()), min_size=65, max_size=90))
def test_what_is_forgotten_of_a_rules_past_weighs_nothing(ends: list[tuple[float, bool]]) -> None:
    """The confidence from the last 64 tasks differs from that of all by less than anybody can see."""
    events = [complaint(time=k) if bad else back(time=k, confidence=c) for k, (c, bad) in enumerate(ends)]
    full = live("x", pool=replace(EMPTY, numbers=Numbers(outcomes=1000)))
    assert entry_after(*events).confidence == pytest.approx(entry_after(*events, pool=full).confidence, abs=1e-9)
