"""Facts that the gateway's own exchanges prove."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gateway.config import Upstream
from gateway.recording.prices import PriceBook
from gateway.remembering.facts import pool_record, prove, remember, write_pool
from memory import Archive, ExchangeRecord, ExchangeRow, Message, message_hash
from memory.levels import Levels
from memory.levels.procedures import LARGE
from rules_engine.evolution.pool import EMPTY, PoolEvent, fold
from rules_engine.seeds import SEEDS

UPSTREAMS = {
    "main": Upstream(name="main", url="https://api.example.org/v1"),
    "llm": Upstream(name="llm", via="litellm"),
}
PRICES = {
    "small": {"input_cost_per_token": 1.5e-7, "cache_read_input_token_cost": 7.5e-8, "output_cost_per_token": 6e-7}
}


def chain(*contents: str) -> tuple[Message, ...]:
    """A history of texts."""
    out: list[Message] = []
    for content in contents:
        parent = out[-1].hash if out else None
        data = json.dumps({"role": "user", "content": content}).encode()
        out.append(Message(hash=message_hash(parent, data), parent=parent, role="user", content=data))
    return tuple(out)


def record(id_: str = "r1", **fields: Any) -> ExchangeRecord:
    """An exchange that was answered."""
    messages = chain("question", "more")
    content = b'{"role":"assistant","content":"answer"}'
    reply = Message(hash=message_hash(messages[-1].hash, content), parent=messages[-1].hash, role="assistant", content=content)  # fmt: skip
    plain: dict[str, Any] = {
        "session": "s1", "parent_session": None, "tenant": "ours", "started": 1.0, "first_byte": 1.5, "ended": 2.0,
        "method": "POST", "path": "/v1/chat/completions", "shape": "chat_completions", "upstream": "main", "model": "small",
        "stream": False, "retry": False, "status": 200, "outcome": "completed", "error": None, "tip": messages[-1].hash,
        "messages": messages, "head": b"{}", "reply": reply, "reported": None, "accounts": {}, "kept": {},
    }  # fmt: skip
    return ExchangeRecord(id=id_, **(plain | fields))


def row(**fields: Any) -> ExchangeRow:
    """The same, as it comes back."""
    told = record(**fields)
    names = ExchangeRow.__dataclass_fields__
    plain = {name: getattr(told, name) for name in names if name not in ("head", "reply", "rewrites", "signals")}
    return ExchangeRow(**plain, head=None, reply=None, rewrites=(), signals=())


def failed(status: int, error: str) -> ExchangeRow:
    """An exchange that the provider refused."""
    return row(status=status, outcome="completed", error=error)


@pytest.fixture
def prices(tmp_path: Path) -> PriceBook:
    """A map with one model."""
    path = tmp_path / "prices.json"
    path.write_text(json.dumps(PRICES))
    return PriceBook(path)


@pytest.mark.parametrize(
    "told",
    [
        row(model=None),
        row(status=None, outcome="failed"),
        row(outcome="abandoned"),
        row(outcome="failed"),
        failed(400, "bad request"),
        failed(401, "maximum tokens"),
        failed(500, "try again in 2000 seconds"),
        failed(429, "slow down"),
        failed(400, ""),
    ],
    ids=["no model", "no answer", "the client left", "broken", "an error", "words without a number", "a number without the words", "no rate", "no words"],
)  # fmt: skip
def test_what_proves_nothing_gives_no_fact(told: ExchangeRow, prices: PriceBook) -> None:
    """A failure says nothing about what works."""
    assert list(prove(told, UPSTREAMS, prices)) == []


def test_an_answer_proves_upstream_model_and_price(prices: PriceBook) -> None:
    """What was asked, of whom, and at what price."""
    assert [(fact.section, fact.text) for fact in prove(row(), UPSTREAMS, prices)] == [
        ("UPSTREAMS", "main answers at https://api.example.org/v1"),
        ("MODELS", "small is served by main"),
        ("PRICES", "small is accounted as small: $0.15 input, $0.075 cached, $0.15 written to the cache, $0.6 output, each for a million tokens"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "fact"),
    [
        ({"stream": True}, ("MODELS", "small at main answers as a stream")),
        ({"upstream": "llm"}, ("UPSTREAMS", "llm answers at the providers that litellm knows")),
        ({"reported": {"prompt_tokens_details": {"cached_tokens": 1024}}}, ("CACHE", "main caches prompts of small and reports the cached tokens")),
        ({"reported": {"prompt_cache_hit_tokens": 64}}, ("CACHE", "main caches prompts of small and reports the cached tokens")),
    ],
)  # fmt: skip
def test_what_an_answer_shows_besides(fields: dict[str, Any], fact: tuple[str, str], prices: PriceBook) -> None:
    """Streams, ways, the provider's cache."""
    assert fact in [(found.section, found.text) for found in prove(row(**fields), UPSTREAMS, prices)]


def test_no_hit_is_no_proof_of_a_cache(prices: PriceBook) -> None:
    """Nor is it proof of none."""
    told = row(reported={"prompt_tokens_details": {"cached_tokens": 0}})
    assert "CACHE" not in [fact.section for fact in prove(told, UPSTREAMS, prices)]


def test_a_model_without_a_price_has_none(prices: PriceBook) -> None:
    """Never a price of nought."""
    assert "PRICES" not in [fact.section for fact in prove(row(model="unknown"), UPSTREAMS, prices)]


@pytest.mark.parametrize(
    ("status", "error", "text"),
    [
        (400, "This model's maximum context length is 128000 tokens. However, you requested 131000 tokens", "small at main takes at most 128000 tokens of context"),
        (400, "prompt is too long: 201234 tokens > 200000 maximum", "small at main takes at most 200000 tokens of context"),
        (413, "input exceeds the context window of 1,048,576 tokens", "small at main takes at most 1048576 tokens of context"),
        (400, "max_tokens is too large: 50000. This model supports at most 16384 completion tokens", "small at main takes at most 16384 tokens of output"),
        (429, "Rate limit reached on tokens per min (TPM): Limit 30000, Used 29000", "small at main is limited to 30000 tokens per minute"),
        (429, "Rate limit reached on requests per day (RPD): Limit: 1,000", "small at main is limited to 1000 requests per day"),
    ],
)  # fmt: skip
def test_a_limit_that_was_met_is_a_fact(status: int, error: str, text: str, prices: PriceBook) -> None:
    """With the number that the provider names."""
    assert [(fact.section, fact.text) for fact in prove(failed(status, error), UPSTREAMS, prices)] == [("LIMITS", text)]


@pytest.fixture
async def archive(tmp_path: Path) -> AsyncIterator[Archive]:
    """An empty archive."""
    opened = await Archive.open(tmp_path / "data")
    yield opened
    await opened.aclose()


@pytest.fixture
def levels(tmp_path: Path) -> Levels:
    """An empty memory."""
    return Levels(tmp_path / "data" / "memory", lambda: 5.0)


async def test_facts_lead_to_the_answer_that_proves_them(archive: Archive, levels: Levels, prices: PriceBook) -> None:
    """And to the request; the index points to their sections."""
    await archive.append([record()])
    assert await remember(archive, levels, "ours", UPSTREAMS.values(), prices) == ()

    assert {fact.section for fact in levels.facts()} == {"UPSTREAMS", "MODELS", "PRICES"}
    for fact in levels.facts():
        why = levels.why(f"L2:{fact.id}")
        assert why is not None
        (link,) = why.links
        assert (link.session, link.message, link.exchange, link.by) == ("s1", 2, "r1", "gateway")
    assert (await archive.conversation("s1"))[2].role == "assistant"
    assert "L2:UPSTREAMS L2:MODELS L2:PRICES" in levels.insight()


async def test_a_limit_leads_to_the_message_that_was_not_answered(archive: Archive, levels: Levels, prices: PriceBook) -> None:  # fmt: skip
    """There is no answer to point to."""
    await archive.append([record(status=400, reply=None, error="maximum context length is 8192 tokens")])
    await remember(archive, levels, "ours", UPSTREAMS.values(), prices)

    (fact,) = levels.facts()
    why = levels.why(f"L2:{fact.id}")
    assert why is not None
    assert [link.message for link in why.links] == [1]


async def test_what_is_known_is_not_written_again(archive: Archive, levels: Levels, prices: PriceBook) -> None:
    """Neither as a fact nor as a proof: a busy gateway would fill the disk."""
    await archive.append([record()])
    await remember(archive, levels, "ours", UPSTREAMS.values(), prices)
    before = {path: path.stat().st_ino for path in levels.root.iterdir()}
    await archive.append([record("r2", session="s2", ended=9.0)])
    await remember(archive, levels, "ours", UPSTREAMS.values(), prices)

    assert {path: path.stat().st_ino for path in levels.root.iterdir()} == before
    assert levels.cited_by("s2") == ()


async def test_the_latest_exchange_has_the_word(archive: Archive, levels: Levels, prices: PriceBook) -> None:
    """A limit that was raised replaces the old one, under the same id."""
    errors = ["maximum context length is 8192 tokens", "maximum context length is 16384 tokens"]
    for k, error in enumerate(errors):
        await archive.append([record(f"r{k}", status=400, reply=None, error=error, ended=2.0 + k)])
        await remember(archive, levels, "ours", UPSTREAMS.values(), prices)

    assert [fact.text for fact in levels.facts()] == ["small at main takes at most 16384 tokens of context"]
    assert [link.exchange for link in levels.why(f"L2:{levels.facts()[0].id}").links] == ["r0", "r1"]  # type: ignore[union-attr]


async def test_each_tenant_has_facts_of_its_own(archive: Archive, levels: Levels, prices: PriceBook) -> None:
    """What another one asked is not told."""
    await archive.append([record(tenant="theirs")])
    await remember(archive, levels, "ours", UPSTREAMS.values(), prices)
    assert levels.facts() == ()


async def test_an_upstream_with_a_password_in_its_url_is_no_fact(archive: Archive, levels: Levels, prices: PriceBook) -> None:  # fmt: skip
    """The others are; the refusal is told."""
    await archive.append([record()])
    upstream = Upstream(name="main", url="https://app:tomato99@api.example.org/v1")
    (refused,) = await remember(archive, levels, "ours", [upstream], prices)

    assert "ref:NAME" in refused
    assert {fact.section for fact in levels.facts()} == {"MODELS", "PRICES"}
    assert "tomato99" not in "".join(path.read_text() for path in levels.root.iterdir())


def test_an_empty_pool_has_a_record(levels: Levels) -> None:
    """It says where to ask."""
    assert "taco-gateway rules list" in pool_record(EMPTY)


def test_the_evidence_for_the_rules_is_a_procedure(levels: Levels) -> None:
    """Readable like any other, and named in the index; the same pool is not written twice."""
    pool = fold(EMPTY, [PoolEvent(name="imported", rule=rule) for rule in SEEDS])
    write_pool(levels, pool)
    (found,) = levels.procedures()
    inode = (levels.root / found.name).stat().st_ino
    write_pool(levels, pool)

    assert found.name == "rule_pool.md"
    assert all(f"- {rule.id}@{rule.version}" in found.text for rule in SEEDS)
    assert "L3:rule_pool" in levels.insight()
    assert (levels.root / found.name).stat().st_ino == inode
    write_pool(levels, EMPTY)
    assert SEEDS[0].id not in levels.procedures()[0].text


def test_a_large_pool_has_a_short_record() -> None:
    """The best of it, within the size of a procedure."""
    rules = [replace(SEEDS[0], id=f"rule_{k}", description="x" * 200) for k in range(300)]
    text = pool_record(fold(EMPTY, [PoolEvent(name="imported", rule=rule) for rule in rules]))
    assert LARGE // 2 < len(text.encode()) <= LARGE
