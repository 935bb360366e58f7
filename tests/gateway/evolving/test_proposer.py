"""The model proposer: what it asks, when it may, and what comes of every kind of answer."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from gateway.config import Proposer
from gateway.evolving.asking import Ask
from gateway.evolving.proposer import QUEUE
from rules_engine.evolution.events import PoolEvent
from rules_engine.evolution.numbers import Numbers
from rules_engine.evolution.prompts import Missed, Start, Uncovered
from rules_engine.evolution.proposals import Outcome
from rules_engine.seeds import SEEDS
from rules_engine.types import Rule
from tests.gateway.proposing import Busy, House, Judge, Said, Unwelcome, house, saying

OUTPUT = "\n".join(f"(pass) case {n}" for n in range(300)) + "\n300 pass\n0 fail\n"
RULE = {"rule_id": "bun_test", "trigger_regex": r"\bbun\s+test\b", "strip_patterns": [r"^.pass. "]}
NEW = Ask(about=Uncovered(command="bun test", text=OUTPUT, task="Test it"), tenant="t", session="s")
PLAN = Ask(about=Start(task="Test it", rules=SEEDS), tenant="t", session="s")
MISSED = Ask(about=Missed(rule=SEEDS[2], command="pip install x", text=OUTPUT, said="Where?"), tenant="t", session="s")


@dataclass
class Verdict:
    """What admission says here."""

    rule: Rule
    admitted: bool = True
    reason: str = ""
    figures: Mapping[str, object] = field(default_factory=lambda: {"outputs": 12})


async def admit_all(ask: Ask, rule: Rule) -> Verdict:
    """Everything passes."""
    return Verdict(rule)


def bench(
    folder: Path, *said: Said, judge: Judge = admit_all, traffic: int = 10_000_000, **settings: Any
) -> AbstractAsyncContextManager[House]:
    """A proposer at work whose session has had so much traffic."""
    given = Proposer(**{"model": "openai/m", **settings})
    return house(folder, given, saying(*said), judge, lambda text: len(text) // 4, traffic)


def new(number: int, **about: str) -> Ask:
    """A question unlike the others."""
    return replace(
        NEW, about=replace(NEW.about, command=f"tool{chr(97 + number)} build", **about), session=f"s{number}"
    )


def test_the_numbers_are_the_papers_and_the_codes() -> None:
    """Under two hundredths of all tokens (paper); 180 seconds, 2 retries, temperature 0.7, 3 rules a task (code)."""
    given = Proposer()

    assert (given.share, given.timeout, given.retries, given.temperature) == (0.02, 180.0, 2, 0.7)
    assert (given.model, given.client_key) == ("", False)
    assert Numbers().proposals_per_task == 3


async def test_without_a_model_nothing_is_asked(tmp_path: Path) -> None:
    """It is off by default."""
    assert Proposer().model == ""
    async with bench(tmp_path, "x", model="") as made:
        assert not made.proposer.offer(NEW)
        await made.proposer.drain()
        assert made.asked == []


async def test_a_proposal_goes_to_the_pool_and_through_admission(tmp_path: Path) -> None:
    """As two events with tenant, session and time; the rule that passed and what was measured."""
    async with bench(tmp_path, json.dumps(RULE)) as made:
        outcome = await made.ask(NEW)

    (rule,) = outcome.proposed
    about = {"tenant": "t", "session": "s", "time": 1e9}
    assert made.events == [
        PoolEvent(name="proposed", rule=rule, **about),  # type: ignore[arg-type]
        PoolEvent(name="admitted", ref=("bun_test", 1), data={"reason": "", "outputs": 12}, **about),  # type: ignore[arg-type]
    ]


async def test_what_admission_refuses_is_refused_with_its_reason(tmp_path: Path) -> None:
    """The proposal stays on record."""

    async def judge(ask: Ask, rule: Rule) -> Verdict:
        return Verdict(rule, False, "it loses a verdict", {"lost": 3})

    async with bench(tmp_path, json.dumps(RULE), judge=judge) as made:
        await made.ask(NEW)

    assert [event.name for event in made.events] == ["proposed", "refused"]
    assert made.events[1].data == {"reason": "it loses a verdict", "lost": 3}


async def test_where_admission_fails_nothing_is_admitted(tmp_path: Path) -> None:
    """And the proposer goes on."""

    async def judge(ask: Ask, rule: Rule) -> Verdict:
        raise ValueError("secret words")

    async with bench(tmp_path, json.dumps(RULE), judge=judge) as made:
        await made.ask(NEW)
        await made.ask(MISSED)

    assert [event.name for event in made.events][:2] == ["proposed", "refused"]
    assert made.events[1].data == {"reason": "admission failed: ValueError"}


async def test_a_refusal_names_no_rule_of_the_pool(tmp_path: Path) -> None:
    """A bad proposal that is called like a good rule does not harm it."""
    bad = RULE | {"rule_id": "pip_install", "keep_patterns": ["["]}
    async with bench(tmp_path, json.dumps(bad)) as made:
        await made.ask(NEW)

    (event,) = made.events
    assert (event.name, event.rule, event.ref) == ("refused", None, None)
    assert event.data["rule_id"] == "pip_install"
    assert event.data["call"] == "new rule"
    assert "keep_patterns[0]" in str(event.data["reason"])


async def test_a_plan_comes_back_to_who_asked(tmp_path: Path) -> None:
    """With the rules of the pool that it selected."""
    answer = {"selected_rule_ids": ["pip_install"], "modified_rules": [], "new_rules": [RULE]}
    async with bench(tmp_path, json.dumps(answer)) as made:
        outcome = await made.ask(PLAN)

    assert outcome.selected == (("pip_install", 1),)
    assert [event.name for event in made.events] == ["proposed", "admitted"]


@pytest.mark.parametrize("ask", [PLAN, NEW], ids=["plan", "new rule"])
async def test_a_model_that_gives_no_answer(ask: Ask, tmp_path: Path) -> None:
    """Nothing changes, and the reason is on record."""
    async with bench(tmp_path, Busy()) as made:
        outcome = await made.ask(ask)

    assert (outcome.selected, outcome.proposed) == (None, ())
    assert len(made.asked) == 3
    (event,) = made.events
    assert event.name == "refused"
    assert "Busy, status 503" in str(event.data["reason"])
    assert made.proposer.figures()["failed"] == 1


async def test_a_model_that_never_answers_holds_nobody_up(tmp_path: Path) -> None:
    """Offers return at once, and so does the end of the gateway."""
    async with bench(tmp_path, None) as made:
        assert made.proposer.offer(NEW)
        await made.until(lambda: bool(made.asked))
        started = asyncio.get_running_loop().time()
        assert made.proposer.offer(MISSED)
        made.proposer.saw("t", "s", 10)
        assert made.proposer.figures()["waiting"] == 1
        assert asyncio.get_running_loop().time() - started < 0.05


async def test_the_same_is_asked_once(tmp_path: Path) -> None:
    """One new rule for a sort of command, one plan for a session: the released code asks at each output."""
    elsewhere = replace(NEW, about=Uncovered(command="cd x && bun test -t y", text=OUTPUT), session="s2")
    async with bench(tmp_path, "no") as made:
        await made.ask(NEW)
        await made.ask(PLAN)
        taken = [made.proposer.offer(ask) for ask in (NEW, elsewhere, PLAN, replace(NEW, tenant="another"))]

    assert taken == [False, False, False, True]


async def test_the_next_day_it_is_asked_again(tmp_path: Path) -> None:
    """There may be more to see."""
    async with bench(tmp_path, "no") as made:
        await made.ask(NEW)
        made.now += 86400
        assert made.proposer.offer(replace(NEW, session="s2"))


async def test_what_failed_may_be_asked_again(tmp_path: Path) -> None:
    """A model that was away yesterday is there today."""
    async with bench(tmp_path, Unwelcome(), json.dumps(RULE)) as made:
        await made.ask(NEW)
        outcome = await made.ask(NEW)

    assert len(outcome.proposed) == 1


async def test_a_session_asks_three_times_and_for_one_plan(tmp_path: Path) -> None:
    """The code's 0 to 3 calls for a task."""
    async with bench(tmp_path, "no") as made:
        taken = [made.proposer.offer(replace(new(n), session="s")) for n in range(5)]
        assert made.proposer.offer(PLAN)
        made.proposer.ended("t", "s")
        assert made.proposer.offer(replace(new(6), session="s"))

    assert taken == [True, True, True, False, False]


async def test_too_many_questions_are_dropped_and_counted(tmp_path: Path) -> None:
    """A queue has an end."""
    async with bench(tmp_path, None) as made:
        taken = [made.proposer.offer(replace(PLAN, session=f"s{n}")) for n in range(QUEUE + 5)]

    assert taken == [True] * QUEUE + [False] * 5
    assert made.proposer.figures()["dropped"] == 5


async def test_a_session_is_asked_about_when_it_can_afford_it(tmp_path: Path) -> None:
    """Until its share of tokens suffices the question waits; when the session ends it is forgotten."""
    async with bench(tmp_path, json.dumps(RULE), traffic=1000) as made:
        made.proposer.saw("t", "rich", 10_000_000)
        assert made.proposer.offer(NEW)
        assert made.proposer.offer(replace(MISSED, session="poor"))
        await made.proposer.drain()
        assert made.asked == []
        made.proposer.saw("t", "s", 1_000_000)
        await made.until(lambda: len(made.events) == 2)
        made.proposer.ended("t", "poor")
        await made.until(lambda: made.proposer.figures()["unaffordable"] == 1)

    assert len(made.asked) == 1
    figures = made.proposer.figures()
    assert (figures["unaffordable"], figures["waiting"], figures["calls"]) == (1, 0, 1)


@pytest.mark.parametrize("waits", [False, True], ids=["offered a moment ago", "waiting for tokens"])
async def test_what_a_session_can_pay_for_is_asked_though_it_has_ended(waits: bool, tmp_path: Path) -> None:
    """Its last request may have brought the tokens, and its end come before anybody looked."""
    async with bench(tmp_path, json.dumps(RULE), traffic=1000 if waits else 10_000_000) as made:
        assert made.proposer.offer(NEW)
        if waits:
            await made.proposer.drain()
            made.proposer.saw("t", "s", 10_000_000)
        made.proposer.ended("t", "s")
        await made.until(lambda: bool(made.events))

    assert [event.name for event in made.events] == ["proposed", "admitted"]


async def test_what_a_session_that_has_ended_cannot_pay_for_takes_no_place(tmp_path: Path) -> None:
    """However soon the end comes after the question, which is being made ready meanwhile."""
    async with bench(tmp_path, "no", traffic=1000) as made:
        for number in range(QUEUE):
            assert made.proposer.offer(replace(PLAN, session=f"s{number}"))
            await asyncio.sleep(0)
            made.proposer.ended("t", f"s{number}")
        await made.until(lambda: made.proposer.figures()["unaffordable"] == QUEUE)
        assert made.proposer.figures()["waiting"] == 0


async def test_a_session_that_goes_on_after_its_end_keeps_its_questions(tmp_path: Path) -> None:
    """They wait for its tokens, as before."""
    async with bench(tmp_path, "no", traffic=1000) as made:
        assert made.proposer.offer(NEW)
        made.proposer.ended("t", "s")
        made.proposer.saw("t", "s", 10)
        await made.proposer.drain()
        assert made.proposer.figures()["waiting"] == 1
        made.proposer.saw("t", "s", 10_000_000)
        await made.until(lambda: len(made.asked) == 1)


async def test_a_chatty_model_is_stopped_before_two_hundredths(tmp_path: Path) -> None:
    """One that says more than it may, each time: neither day nor session passes its share."""
    chatty = ("so " * 3000, {"prompt_tokens": 1000, "completion_tokens": 3900})
    async with bench(tmp_path, chatty, traffic=0) as made:
        for number in range(10):
            made.proposer.offer(new(number))
        for _ in range(40):
            for number in range(10):
                made.proposer.saw("t", f"s{number}", 20_000)
            await asyncio.sleep(0.005)
            figures = made.proposer.figures()
            assert float(str(figures["share"])) < 0.02
            assert float(str(figures["largest_session_share"])) < 0.02
        await made.until(lambda: len(made.asked) >= 5)

    assert float(str(made.proposer.figures()["largest_session_share"])) < 0.02


async def test_a_day_has_its_tokens(tmp_path: Path) -> None:
    """When they are spent nothing more is asked."""
    async with bench(tmp_path, ("no", {"total_tokens": 6000}), traffic=0, daily_tokens=20_000) as made:
        for number in range(10):
            made.proposer.saw("t", f"s{number}", 10_000_000)
            made.proposer.offer(new(number))
        await made.proposer.drain()

    assert int(str(made.proposer.figures()["tokens"])) <= 20_000
    assert 1 <= len(made.asked) <= 3


async def test_nothing_that_goes_wrong_ends_it(tmp_path: Path, log: io.StringIO) -> None:
    """A caller that raises, for instance; the loss is counted and said."""

    def fail(outcome: Outcome) -> None:
        raise RuntimeError("of the caller")

    async with bench(tmp_path, "no") as made:
        made.proposer.offer(replace(NEW, then=fail))
        await made.until(lambda: made.proposer.figures()["failed"] == 1)
        await made.ask(PLAN)

    assert "a question to the proposer was lost" in log.getvalue()


async def test_traffic_survives_a_restart(tmp_path: Path) -> None:
    """It is written down at the end, and now and then."""
    async with bench(tmp_path, "no", traffic=0) as made:
        await made.proposer.drain()
        for number in range(1000):
            made.proposer.saw("t", f"s{number}", 1000)
        await made.proposer.drain()
        assert any(file.stat().st_size > 10_000 for file in (tmp_path / "budget").iterdir())
        made.proposer.saw("t", "the last", 200_000)
    async with bench(tmp_path, "no", traffic=0) as again:
        await again.proposer.drain()

    assert made.proposer.figures()["of"] == again.proposer.figures()["of"] == 1_200_000


async def test_a_rule_that_no_model_writes_costs_nothing(tmp_path: Path) -> None:
    """It is refused without a call."""
    scored = replace(SEEDS[2], kind="line_score", params={})
    async with bench(tmp_path, "no") as made:
        outcome = await made.ask(replace(MISSED, about=replace(MISSED.about, rule=scored)))  # type: ignore[arg-type]

    assert made.asked == []
    assert "line_score" in outcome.refused[0].reason
