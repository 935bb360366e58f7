"""Rules that are missed, frozen, softened, tried, trusted and learned, over real sockets and real stores."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from gateway.config import Client, Config, Proposer, Rewriting
from gateway.evolving import evolution, tasks
from gateway.evolving.pools import SHARED
from gateway.evolving.rules import POOL, change_pool
from memory import PoolEvents
from rules_engine import Rule
from rules_engine.evolution.pool import Numbers, Pool, PoolEvent, Stage, imports, load_event
from rules_engine.types import Trigger
from tests.commandline import invoke
from tests.samples import SAMPLES, Step, dump
from tests.service import PATIENCE, Service, configured, service
from tests.wire import JSON, ask, upstream, whole

PATH = "/v1/chat/completions"
SAMPLE = SAMPLES[PATH]
ANSWER = whole(SAMPLE.answer("All done."))
TOOLS = [{"type": "function", "function": {"name": "bash", "parameters": {}}}]
CALL = {"name": "bash", "arguments": '{"command": "fetch"}'}
HARMFUL = Rule(
    id="harmful",
    kind="line_filter",
    trigger=Trigger(pattern="^fetch"),
    params={"strip_patterns": ["^part ", "^slot "], "keep_first_n": 2, "keep_last_n": 2},
)
LOADING = 120.0
"""Seconds that litellm may take to load on a busy machine."""
PLAIN = Rewriting(shipped_rules=False, seed_rules=False)


def fetched(number: int) -> str:
    """What a made-up tool prints: parts, and slots of which one is needed next."""
    parts = [f"part {k} of {number} kept under a long name of its own in the set" for k in range(60)]
    slots = [f"slot {k} holds key_{number}_{k * k}" for k in range(20)]
    return "\n".join(["fetching", "open", *parts, *slots, "closed", "last line", ""])


async def session(gateway: Service, number: int, *more: Step) -> None:
    """A session of its own that runs one command of the made-up tool, then `more`, then has no more to ask."""
    for body in requests(number, Step(f"fetch --set {number}", fetched(number)), *more):
        await gateway.row(await ask(gateway.url, PATH, body))
        await settled(gateway)


def requests(number: int, *steps: Step) -> Iterator[bytes]:
    """What an agent sends that takes these steps, one after the other."""
    for k in range(len(steps) + 1):
        body = SAMPLE.request(steps[:k], tools=TOOLS)
        body["messages"][1]["content"] += f"Use fetch for set {number}."
        yield dump(body)


async def settled(gateway: Service) -> None:
    """Wait until everything was looked at and learned."""
    async with asyncio.timeout(PATIENCE):
        await gateway.gateway.evolution.drain()


async def answered(gateway: Service) -> None:
    """Wait until the model was asked what could be paid for, and what it said was learned."""
    async with asyncio.timeout(LOADING):
        await gateway.gateway.proposer.drain()
    await settled(gateway)


def pool(gateway: Service) -> Pool:
    """The pool that all keys learn in, where no clients are listed."""
    return gateway.gateway.pools.of(SHARED)


def stage(gateway: Service, name: str) -> Stage:
    """Where a rule stands in it."""
    return next(entry.stage for entry in pool(gateway).entries.values() if entry.rule.id == name)


async def events(data: Path) -> list[PoolEvent]:
    """All that is on record of rules."""
    store = await PoolEvents.open(data / POOL)
    try:
        return [load_event(row.event) for row in await store.read()]
    finally:
        await store.aclose()


def config(url: str, **numbers: Any) -> Config:
    """No rules but those that a test brings."""
    return configured(url, rewriting=PLAIN, evolution=replace(Numbers(), **numbers))


def sent(up: Any) -> list[str]:
    """The outputs that reached the model last."""
    return SAMPLE.outputs(json.loads(up.last.body))


async def test_a_rule_that_is_missed_is_frozen_and_softened(tmp_path: Path) -> None:
    """The agent looks for what was left out: from then on the session does without the rule, and a softer one takes its
    place; what was decided before is replayed as it was."""
    async with upstream(ANSWER) as up:
        given = config(up.url)
        await change_pool(given, tmp_path, lambda pool: imports(pool, [HARMFUL], SHARED, 1.0))
        async with service(given, tmp_path) as gateway:
            slots = "".join(f"{line}\n" for line in fetched(1).split("\n") if "slot" in line)
            await session(gateway, 1, Step("fetch --set 1 | grep slot", slots), Step("fetch --set 2", fetched(2)))
            first, _, third = sent(up)
    assert "lines omitted" in first
    assert "slot 3 holds" not in first
    assert "slot 3 holds" in third
    assert "part 3 of 2" not in third
    found = {event.name: event for event in await events(tmp_path)}
    assert found["complained"].ref == found["frozen"].ref == ("harmful", 1)
    assert "slot 3" not in str(found["complained"].data)
    softer = found["proposed"].rule
    assert softer is not None
    assert softer.parent == "harmful"


async def test_a_session_that_goes_quiet_ends_however_busy_others_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its agent was stopped in the middle; what its rules did counts all the same, while another agent never rests."""
    monkeypatch.setattr(evolution, "TICK", 0.2)
    more = {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": CALL}]}
    answer = json.dumps({"choices": [{"index": 0, "message": more, "finish_reason": "tool_calls"}]}).encode()
    async with upstream(whole(answer)) as up, service(config(up.url, idle_seconds=1), tmp_path) as gateway:
        *_, stopped = requests(1, Step("fetch --set 1", fetched(1)))
        await ask(gateway.url, PATH, stopped)
        others = count(2)
        async with asyncio.timeout(PATIENCE):
            while not pool(gateway).ended:
                await ask(gateway.url, PATH, next(requests(next(others))))


async def test_a_rule_that_nobody_misses_is_written_back(tmp_path: Path) -> None:
    """Each session that ends without complaint counts."""
    async with upstream(ANSWER) as up:
        given = config(up.url)
        await change_pool(given, tmp_path, lambda pool: imports(pool, [HARMFUL], SHARED, 1.0))
        async with service(given, tmp_path) as gateway:
            for number in range(3):
                await session(gateway, number)
            entry = pool(gateway).entries["harmful", 1]
            assert (entry.applied, entry.complained, entry.confidence) == (3, 0, 1.0)
            assert pool(gateway).ended == 3


async def test_the_last_exchange_before_the_end_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gateway that is started for one run of an agent ends with it, before anybody has had time to look."""
    look = tasks.look

    def look_slowly(*given: Any) -> tasks.Look:
        time.sleep(0.3)
        return look(*given)

    monkeypatch.setattr(tasks, "look", look_slowly)
    async with upstream(ANSWER) as up:
        given = config(up.url)
        await change_pool(given, tmp_path, lambda pool: imports(pool, [HARMFUL], SHARED, 1.0))
        async with service(given, tmp_path) as gateway:
            for body in requests(1, Step("fetch --set 1", fetched(1))):
                await ask(gateway.url, PATH, body)
    assert [event.ref for event in await events(tmp_path) if event.name == "written_back"] == [("harmful", 1)]


async def test_a_rule_goes_through_trial_before_it_is_used(tmp_path: Path) -> None:
    """Decided and not applied, then applied in a share of the sessions, then in all."""
    async with upstream(ANSWER) as up:
        given = config(
            up.url, canary_share=1.0, shadow_sessions=2, shadow_outputs=2, canary_sessions=2, canary_outputs=2
        )
        async with service(given, tmp_path) as gateway:
            await session(gateway, 0)
            await admit(gateway, HARMFUL)
            seen = []
            for number in range(1, 7):
                before = stage(gateway, "harmful")
                await session(gateway, number)
                seen.append((before, f"part 3 of {number}" in sent(up)[0]))
    assert seen == [("shadow", True)] * 2 + [("canary", False)] * 2 + [("live", False)] * 2


async def test_what_is_used_in_trial_ends_it(tmp_path: Path) -> None:
    """A rule in shadow would have left out what the agent goes on to use: it never gets further."""
    async with upstream(ANSWER) as up:
        given = config(up.url, shadow_sessions=2, shadow_outputs=2, canary_share=1.0)
        async with service(given, tmp_path) as gateway:
            await session(gateway, 0)
            await admit(gateway, HARMFUL)
            await session(gateway, 1, Step("open key_1_81", "opened\n"))
            assert stage(gateway, "harmful") == "retired"
            await session(gateway, 2)
            assert "slot 3 holds" in sent(up)[0]


async def test_sessions_teach(tmp_path: Path) -> None:
    """What nobody used in several sessions is proposed, admitted and put on trial, by a process of its own."""
    lines = [f"[cc] object_{k}.o from a source file that compiles like all the others" for k in range(60)]
    async with upstream(ANSWER) as up:
        async with service(config(up.url, batch_tasks=9), tmp_path) as gateway:
            for number in range(27):
                output = "\n".join(["make: start", "two", "three", *(f"{x} {number}" for x in lines), "linked it all"])
                await session(gateway, number, Step("make all", output))
        names = [event.name for event in await events(tmp_path)]
    assert "admitted" in names
    taught = [event.rule for event in await events(tmp_path) if event.rule]
    assert "mined" in {rule.provenance for rule in taught}


async def test_an_operator_is_heeded_without_a_restart(tmp_path: Path) -> None:
    """A rule that another process on the same folder brings in, and then takes out, holds for the next session."""
    async with upstream(ANSWER) as up:
        given = config(up.url)
        async with service(given, tmp_path) as gateway:
            await session(gateway, 1)
            assert "part 3 of 1" in sent(up)[0]
            await change_pool(given, tmp_path, lambda pool: imports(pool, [HARMFUL], SHARED, 1.0))
            await gateway.gateway.pools.refresh()
            await session(gateway, 2)
            assert "part 3 of 2" not in sent(up)[0]
            off = PoolEvent(name="disabled", ref=("harmful", 1), time=2.0)
            await change_pool(given, tmp_path, lambda pool: [off])
            await gateway.gateway.pools.refresh()
            await session(gateway, 3)
            assert "part 3 of 3" in sent(up)[0]


async def test_a_store_that_fails_costs_no_request(tmp_path: Path) -> None:
    """What was learned cannot be stored: requests go on, and it is said."""
    async with upstream(ANSWER) as up, service(config(up.url), tmp_path) as gateway:
        await session(gateway, 0)
        with closing(sqlite3.connect(tmp_path / POOL)) as file, file:
            file.execute("DROP TABLE events")
        await session(gateway, 1)
        assert "part 3 of 1" in sent(up)[0]
        assert gateway.gateway.evolution.problem is not None


@pytest.mark.parametrize(("held", "missed"), [(0, 2), (1 << 20, 0)], ids=["no room", "room enough"])
async def test_what_waits_to_be_looked_at_has_a_limit(
    held: int, missed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Requests go on, and what is not looked at is counted."""
    monkeypatch.setattr(evolution, "HELD", held)
    async with upstream(ANSWER) as up, service(config(up.url), tmp_path) as gateway:
        await session(gateway, 0)
        assert "part 3 of 0" in sent(up)[0]
        assert gateway.gateway.evolution.missed == missed
        assert pool(gateway).ended == (0 if missed else 1)


async def admit(gateway: Service, rule: Rule) -> None:
    """Have a rule admitted to the pool."""
    proposed = PoolEvent(name="proposed", rule=rule, time=1.0)
    await gateway.gateway.pools.append([proposed, replace(proposed, name="admitted", rule=None, ref=(rule.id, 1))])


async def test_why(tmp_path: Path) -> None:
    """The command line tells which rule fired on a tool result, and why another was not even chosen."""
    async with upstream(ANSWER) as up:
        given = config(up.url)
        foreign = replace(HARMFUL, id="foreign", trigger=Trigger(pattern=r"^objdump\b"))
        await change_pool(given, tmp_path, lambda pool: imports(pool, [HARMFUL, foreign], SHARED, 1.0))
        async with service(given, tmp_path) as gateway:
            await session(gateway, 1)
            (row,) = await gateway.gateway.archive.rewrites(9)
    (tmp_path / "config.yaml").write_text("rewriting:\n  shipped_rules: false\n  seed_rules: false\n")
    told = [
        await asyncio.to_thread(invoke, "rules", "why", name, "--data", tmp_path) for name in (row.id, row.exchange)
    ]
    for result in told:
        assert result.exit_code == 0, result.output
        assert "on record: harmful" in result.stdout
        assert "80 lines left out" in " ".join(result.stdout.split())
        assert "objdump" in next(line for line in result.stdout.splitlines() if "foreign@1" in line)
    assert (await asyncio.to_thread(invoke, "rules", "why", "nix", "--data", tmp_path)).exit_code == 2


async def test_a_model_proposes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The configured model is asked for a plan when a session begins; its rule is on record with what admission said, its
    tokens count, and no request waited for it."""
    rule = {"rule_id": "fetch_parts", "trigger_regex": r"\bfetch\b", "strip_patterns": ["^part "]}
    monkeypatch.setenv("MODEL_KEY", "a-key")
    said = whole(
        SAMPLE.answer(
            json.dumps({"rules": [rule]}), {"prompt_tokens": 900, "completion_tokens": 60, "total_tokens": 960}
        )
    )
    async with upstream(ANSWER) as up, upstream(said) as other:
        model = Proposer(model="openai/writer", url=f"{other.url}/v1", share=0.9, key_env="MODEL_KEY")
        given = replace(config(up.url, uncovered_chars=1_000_000), proposer=model)  # a plan is all that it asks for
        async with service(given, tmp_path) as gateway:
            await session(gateway, 1)
            await answered(gateway)
            figures = gateway.gateway.proposer.figures()
        found = {event.name: event for event in await events(tmp_path)}
    assert found["proposed"].rule is not None
    assert found["proposed"].rule.trigger.pattern == r"\bfetch\b"
    assert "sessions" in found["refused"].text("reason")
    assert figures["tokens"] == 960


async def test_listed_clients_learn_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What one client's sessions come to stays in its own pool."""
    monkeypatch.setenv("ALICE_KEY", "sk-alice")
    monkeypatch.setenv("BOB_KEY", "sk-bob")
    clients = (Client(name="alice", key_env="ALICE_KEY"), Client(name="bob", key_env="BOB_KEY"))
    async with upstream(ANSWER) as up, service(replace(config(up.url), clients=clients), tmp_path) as gateway:
        for key in ("sk-alice", "sk-bob"):
            body = dump(SAMPLE.request([Step("fetch", fetched(1))], tools=TOOLS))
            await gateway.row(await ask(gateway.url, PATH, body, headers=[JSON, ("authorization", f"Bearer {key}")]))
            await settled(gateway)
        pools = gateway.gateway.pools
        assert pools.of("alice").ended == 1
        assert pools.of("bob").ended == 1
        assert pools.of(SHARED).ended == 0


async def test_a_plan_is_used_for_what_comes_after_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The planner leaves a rule out: what was decided stays, what is first seen afterwards is shown whole."""
    monkeypatch.setenv("MODEL_KEY", "a-key")
    plan = {"selected_rule_ids": [], "modified_rules": [], "new_rules": []}
    said = whole(SAMPLE.answer(json.dumps(plan), {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}))
    async with upstream(ANSWER) as up, upstream(said) as other:
        model = Proposer(model="openai/writer", url=f"{other.url}/v1", share=0.9, key_env="MODEL_KEY")
        given = replace(config(up.url), proposer=model)
        await change_pool(given, tmp_path, lambda pool: imports(pool, [HARMFUL], SHARED, 1.0))
        async with service(given, tmp_path) as gateway:
            await session(gateway, 1)
            await answered(gateway)
            await session(gateway, 1, Step("fetch --set 2", fetched(2)))
            first, second = sent(up)
    assert "part 3 of 1" not in first
    assert "part 3 of 2" in second
    written = [event for event in await events(tmp_path) if event.name == "written_back"]
    assert [event.count("applied") for event in written] == [1]
