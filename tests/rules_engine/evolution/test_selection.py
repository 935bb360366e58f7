"""The rules of one task: the best that fit, some in trial, and a reason for each that is left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.evolution.pool import EMPTY, Numbers, Pool, PoolEvent, fold, imports
from rules_engine.evolution.selection import Facts, Selection, in_share, select, select_planned
from rules_engine.types import Rule, RuleRef, Settings, Trigger

NOWHERE = Facts()
LOGIN = Facts(agent="codex", tools=frozenset({"shell"}), first_message="Fix the login of the web shop")
ARCHIVE = Facts(first_message="Extract secrets.7z and read secret_file.txt", repository="crack-7z-hash")


def rule(name: str, trigger: str = r"\bmake\b", **fields: Any) -> Rule:
    """A rule of this name."""
    params = {"strip_patterns": [f"^{name} "]}
    return Rule(id=name, kind="line_filter", trigger=Trigger(pattern=trigger), params=params, **fields)


def live(*rules: Rule, numbers: Numbers | None = None) -> Pool:
    """A pool in which these are live."""
    pool = replace(EMPTY, numbers=numbers or Numbers())
    return fold(pool, imports(pool, rules, "", 1))


def trial(pool: Pool, made: Rule, stage: str) -> Pool:
    """The pool with a rule in trial besides."""
    ref = (made.id, made.version)
    events = [PoolEvent(name="proposed", rule=made), PoolEvent(name="admitted", ref=ref)]
    if stage == "canary":
        events.append(PoolEvent(name="promoted", ref=ref, data={"stage": "canary"}))
    return fold(pool, events)


def chosen(selection: Selection) -> list[str]:
    """Names of the rules in use."""
    return [made.id for made in selection.rules]


def reasons(selection: Selection) -> dict[RuleRef, str]:
    """Reasons by rule."""
    return dict(selection.excluded)


SEVEN_ZIP = rule("seven_zip_extraction", r"7z\s+x\s.*secrets\.7z", times_applied=126, provenance="model")
MAKE = rule("make_lines", times_applied=2)


def test_nothing_to_choose_from() -> None:
    """An empty pool gives no rules, and no reasons."""
    assert select(EMPTY, LOGIN, Settings(), "s") == Selection()


def test_paper_a_high_score_does_not_make_a_rule_fit() -> None:
    """The rule that leads the pool stays out of a task that has nothing to do with it; a generic one stays in."""
    found = select(live(SEVEN_ZIP, MAKE), LOGIN, Settings(), "s")

    assert chosen(found) == ["make_lines"]
    assert reasons(found) == {("seven_zip_extraction", 1): "trigger names `7z`: nothing of it in this task"}


@pytest.mark.parametrize(
    ("made", "facts", "reason"),
    [
        pytest.param(SEVEN_ZIP, ARCHIVE, "", id="the task names the file"),
        pytest.param(SEVEN_ZIP, NOWHERE, "", id="nothing is known of the task"),
        pytest.param(SEVEN_ZIP, LOGIN, "trigger names `7z`: nothing of it in this task", id="another task"),
        pytest.param(replace(SEVEN_ZIP, evidence={"sources": 3}), LOGIN, "", id="learned in three places"),
        pytest.param(
            replace(SEVEN_ZIP, evidence={"sources": ["a", "b"]}),
            LOGIN,
            "trigger names `7z`: nothing of it in this task",
            id="learned in two places",
        ),
        pytest.param(
            replace(SEVEN_ZIP, evidence={"sources": ["shop"]}), replace(LOGIN, repository="shop"), "", id="learned here"
        ),
        pytest.param(
            replace(MAKE, evidence={"agents": ["cline"]}), LOGIN, "learned with cline: not in this task", id="an agent"
        ),
        pytest.param(replace(MAKE, evidence={"agents": ["codex", "cline"]}), LOGIN, "", id="its own agent"),
        pytest.param(replace(MAKE, evidence={"agents": ["cline"]}), NOWHERE, "", id="an agent that nobody knows"),
        pytest.param(
            replace(MAKE, evidence={"tools": ["browser"]}), LOGIN, "learned with browser: not in this task", id="a tool"
        ),
        pytest.param(
            rule("rust", r"\bcargo\s+build\b"),
            replace(LOGIN, marks=frozenset({"package.json"})),
            "trigger names `cargo`: this repository has package.json",
            id="another language",
        ),
        pytest.param(
            rule("rust", r"\bcargo\s+build\b"), replace(LOGIN, marks=frozenset({"Cargo.toml"})), "", id="its language"
        ),
    ],
)
def test_what_fits_a_task(made: Rule, facts: Facts, reason: str) -> None:
    """By agent, tools, first message and repository; what works everywhere is used everywhere."""
    assert reasons(select(live(made), facts, Settings(), "s")).get((made.id, 1), "") == reason


def test_what_worked_in_a_repository_is_used_there() -> None:
    """And after three repositories everywhere."""
    pool = live(SEVEN_ZIP)
    shop = replace(LOGIN, repository="shop")
    for k, place in enumerate(["shop", "b", "c"]):
        pool = fold(pool, [PoolEvent(name="written_back", ref=("seven_zip_extraction", 1), data={"place": place})])
        assert chosen(select(pool, shop, Settings(), "s")) == ["seven_zip_extraction"]
        assert bool(chosen(select(pool, LOGIN, Settings(), "s"))) is (k == 2)


def test_paper_thirty_rules_and_the_slots_of_those_that_do_not_fit() -> None:
    """A rule that does not fit takes nobody's place; what is beyond the thirtieth says so."""
    many = [rule(f"r{k:02}", times_applied=k) for k in range(32)]
    found = select(live(*many, SEVEN_ZIP), LOGIN, Settings(), "s")

    assert chosen(found) == [f"r{k:02}" for k in range(2, 32)]
    assert reasons(found)[("r01", 1)] == "rank 31 of those that fit: the first 30 are used"
    assert reasons(found)[("r00", 1)] == "rank 32 of those that fit: the first 30 are used"


def test_rules_are_tried_by_priority() -> None:
    """As in the original, lower first; then by name."""
    found = select(live(rule("c", priority=50), rule("b", priority=30), rule("a", priority=50)), LOGIN, Settings(), "s")
    assert chosen(found) == ["b", "a", "c"]
    assert found.ruleset(Settings()).rules == found.rules


def test_a_selected_rule_carries_what_the_pool_knows_of_it() -> None:
    """A task begins with the pool's confidence and counts."""
    pool = fold(live(MAKE), [PoolEvent(name="complained", ref=("make_lines", 1), time=2)])
    (made,) = select(pool, LOGIN, Settings(), "s").rules
    assert (made.confidence, made.times_applied, made.times_complained) == (0.5, 2, 1)


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        pytest.param([("complained", {}), ("complained", {})], "confidence 0.25 is under 0.3", id="doubted"),
        pytest.param([("disabled", {"reason": "too eager"})], "disabled: too eager", id="switched off, with a reason"),
        pytest.param([("disabled", {})], "disabled: by hand", id="switched off"),
        pytest.param([("retired", {"by": "hand"})], "retired: by hand", id="retired"),
    ],
)
def test_why_a_rule_is_not_asked_for(events: Sequence[tuple[Any, dict[str, object]]], reason: str) -> None:
    """Where it stands is a reason."""
    happened = [PoolEvent(name=name, ref=("make_lines", 1), time=5 + k, data=d) for k, (name, d) in enumerate(events)]
    found = select(fold(live(MAKE), happened), LOGIN, Settings(), "s")
    assert (chosen(found), reasons(found)) == ([], {("make_lines", 1): reason})


def test_a_refused_rule_keeps_its_reason() -> None:
    """What admission said can be asked for."""
    pool = fold(EMPTY, [PoolEvent(name="refused", rule=MAKE, data={"reason": "loses a verdict"})])
    assert reasons(select(pool, LOGIN, Settings(), "s")) == {("make_lines", 1): "refused: loses a verdict"}


def test_the_configuration_switches_rules_off() -> None:
    """By name, whatever the pool says."""
    found = select(live(MAKE), LOGIN, Settings(disabled=frozenset({"make_lines"})), "s")
    assert reasons(found) == {("make_lines", 1): "switched off in the configuration"}


def test_the_last_version_is_used() -> None:
    """The one before says which stands in its place."""
    pool = live(MAKE)
    pool = fold(pool, imports(pool, [replace(MAKE, on_failing=True)], "", 2))
    found = select(pool, LOGIN, Settings(), "s")
    assert [made.version for made in found.rules] == [2]
    assert reasons(found) == {("make_lines", 1): "version 2 is used"}


def test_a_rule_in_shadow_is_decided_and_not_applied() -> None:
    """In every session, up to ten of them."""
    pool = live(MAKE)
    for k in range(12):
        pool = trial(pool, rule(f"s{k:02}"), "shadow")
    found = select(pool, LOGIN, Settings(), "s")

    assert chosen(found) == ["make_lines"]
    assert len({made.id for made in found.shadow}) == 10
    assert list(reasons(found).values()) == ["in trial: 10 others are tried here"] * 2


def test_a_canary_runs_in_a_share_of_the_sessions() -> None:
    """Always in the same ones; the others are told why not."""
    pool = trial(live(MAKE), rule("new"), "canary")
    found = {name: select(pool, LOGIN, Settings(), name) for name in map(str, range(500))}
    inside = {name for name, selection in found.items() if "new" in chosen(selection)}

    assert 60 <= len(inside) <= 140
    assert inside == {name for name in found if in_share(name, "new", 0.2)}
    outside = next(selection for name, selection in found.items() if name not in inside)
    assert reasons(outside) == {("new", 1): "in trial, in 20% of the sessions: not in this one"}
    assert [made.id for made in outside.rules] == ["make_lines"]


def test_every_rule_in_shadow_gets_its_turn() -> None:
    """A rule that is applied already is tried before them; they take turns from session to session."""
    pool = trial(live(numbers=Numbers(canary_share=1.0, trial_rules=2)), rule("z"), "canary")
    for name in "abcd":
        pool = trial(pool, rule(name), "shadow")
    found = [select(pool, LOGIN, Settings(), str(k)) for k in range(40)]

    assert {(*chosen(selection), len(selection.shadow)) for selection in found} == {("z", 1)}
    assert {made.id for selection in found for made in selection.shadow} == set("abcd")


def test_a_canary_stands_in_for_the_version_before_it() -> None:
    """Two versions of one rule never run together."""
    pool = trial(live(MAKE, numbers=Numbers(canary_share=1.0)), replace(MAKE, version=2, on_failing=True), "canary")
    found = select(pool, LOGIN, Settings(), "s")
    assert [made.version for made in found.rules] == [2]
    assert reasons(found) == {("make_lines", 1): "version 2 is used"}


@given(st.text(max_size=9), st.text(max_size=9), st.floats(0, 1), st.floats(0, 1))
def test_a_larger_share_holds_the_smaller(session: str, name: str, share: float, other: float) -> None:
    """Nobody is in none, everybody is in all, and a share that grows drops no session."""
    assert not in_share(session, name, 0)
    assert in_share(session, name, 1)
    assert in_share(session, name, max(share, other)) or not in_share(session, name, min(share, other))


def test_a_plan_is_taken_as_it_is() -> None:
    """What the planner chose is used, also where the words of the task do not speak for it; the rest is left out."""
    found = select_planned(live(SEVEN_ZIP, MAKE), ["seven_zip_extraction"], [], Settings(), "s")
    assert chosen(found) == ["seven_zip_extraction"]
    assert reasons(found) == {("make_lines", 1): "the planner left it out"}


def test_what_a_planner_invents_is_not_used() -> None:
    """An id that is not in the pool is no rule."""
    found = select_planned(live(MAKE), ["make_lines", "nginx_setup"], [], Settings(), "s")
    assert chosen(found) == ["make_lines"]
    assert reasons(found) == {("nginx_setup", 0): "the planner named it; there is no such rule"}


@pytest.mark.parametrize("number", [0, 6, 7, 8, 20])
def test_paper_seven_rules_at_most(number: int) -> None:
    """Of a longer plan the first seven, chosen ones before new ones."""
    names = [f"r{k:02}" for k in range(number)]
    found = select_planned(live(*map(rule, names)), names, [rule("new")], Settings(), "s")
    assert chosen(found) == names[:7]
    assert [made.id for made in found.made] == (["new"] if number < 7 else [])
    if number >= 7:
        assert reasons(found)[("new", 1)] == "a plan has at most 7 rules"


def test_a_rule_that_a_planner_made_is_tried_first() -> None:
    """It is decided and not applied; the rule that it is to stand for stays in use."""
    changed = replace(MAKE, id="make_lines_mod", parent="make_lines")
    found = select_planned(live(MAKE), ["make_lines"], [changed], Settings(), "s")
    assert (chosen(found), found.shadow, found.made) == (["make_lines"], (changed,), (changed,))


def test_paper_a_rule_that_a_planner_made_is_used_at_once() -> None:
    """In the paper's way it takes the place of the one that it changes."""
    changed = replace(MAKE, id="make_lines_mod", parent="make_lines")
    found = select_planned(live(MAKE), [], [changed], Settings(), "s", at_once=True)
    assert (found.rules, found.shadow, found.made) == ((changed,), (), (changed,))
    assert reasons(found) == {("make_lines", 1): "the planner changed it: `make_lines_mod` is used"}


def test_a_rule_in_trial_goes_on_beside_a_plan() -> None:
    """Its trial does not wait for a planner to name it."""
    found = select_planned(trial(live(MAKE), rule("new"), "shadow"), ["make_lines"], [], Settings(), "s")
    assert [made.id for made in found.shadow] == ["new"]


@given(
    st.lists(st.sampled_from("abcdefgh"), unique=True),
    st.lists(st.sampled_from("ijkl"), unique=True),
    st.sampled_from([NOWHERE, LOGIN, ARCHIVE]),
    st.sampled_from(["s", "t", "u"]),
)
def test_every_rule_is_used_tried_or_left_out_with_a_reason(
    rules: list[str], trials: list[str], facts: Facts, session: str
) -> None:
    """Nothing vanishes."""
    pool = live(*(rule(name, rf"\b{'make' if name < 'd' else name * 3}\b") for name in rules), numbers=Numbers(top_k=3))
    for name in trials:
        pool = trial(pool, rule(name), "canary" if name < "k" else "shadow")
    found = select(pool, facts, Settings(), session)

    used = [(made.id, made.version) for made in (*found.rules, *found.shadow)]
    assert sorted([*used, *(ref for ref, _ in found.excluded)]) == sorted(pool.entries)
    assert all(reason for _, reason in found.excluded)
