"""What the archive answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from memory import Archive, ExchangeRecord, LeftOff, Message, RewriteRecord, RewriteTexts, SignalRecord
from memory.reading import add

Chain = Callable[..., tuple[Message, ...]]
Record = Callable[..., ExchangeRecord]
Rewrite = Callable[..., RewriteRecord]


@pytest.mark.parametrize(
    ("path", "sums"),
    [
        ("$.list[0]", {}),
        ("$.tokens", {"tokens": 2}),
        ("$.saved.gutter", {"saved": {"gutter": 2}}),
        ('$.saved."gutter@1.0"', {"saved": {"gutter@1.0": 2}}),
        ('$."a \\" b"', {'a " b': 2}),
    ],
    ids=["a list's member is no sum", "plain", "nested", "name with a dot", "name with a quote"],
)
def test_add(path: str, sums: dict[str, Any]) -> None:
    """A number is added where it stands; twice the number is twice the sum."""
    found: dict[str, Any] = {}
    add(found, path, 1)
    add(found, path, 1)
    assert found == sums


async def test_exchange(archive: Archive, chain: Chain, record: Record, rewrite: Rewrite, signal: SignalRecord) -> None:
    """An exchange comes back with its accounts, its rewrites by id and its signals."""
    question, answer = chain("a", {"role": "assistant", "content": "b"})
    made = record(
        "1", [question], reply=answer, stream=True, error="broke", rewrites=(rewrite(), rewrite("x")), signals=(signal,)
    )
    await archive.append([made])
    row = await archive.exchange("1")
    assert row is not None
    same = ("id", "session", "tenant", "started", "first_byte", "ended", "path", "model", "stream", "retry", "status")
    assert {name: getattr(row, name) for name in same} == {name: getattr(made, name) for name in same}
    assert (row.reported, row.accounts, row.kept, row.error) == (made.reported, made.accounts, made.kept, "broke")
    assert (row.rewrites, row.signals) == (("1", "2"), (signal,))
    assert row.tip == question.hash
    assert row.head is not None
    assert await archive.content(row.head) == made.head
    assert row.reply is not None
    assert await archive.chain(row.reply) == (question, answer)


async def test_what_was_not_reported_stays_unknown(archive: Archive, record: Record) -> None:
    """Absent is not zero."""
    await archive.append([record("1", first_byte=None, status=None, reported=None, head=b"", accounts={"cost": None})])
    row = await archive.exchange("1")
    assert row is not None
    assert (row.first_byte, row.status, row.reported, row.head, row.tip, row.reply) == (None,) * 6
    assert row.accounts == {"cost": None}
    assert (await archive.totals()).accounts == {}


async def test_totals(archive: Archive, record: Record, rewrite: Rewrite, signal: SignalRecord) -> None:
    """Accounts are summed by every name in them, over all and by model; reasons and outcomes are counted."""
    accounts = {"raw_tokens": 10, "saved_by_rule": {"gutter@1": 2}, "cost": 0.5, "approximate": False, "list": [1]}
    await archive.append(
        [
            record("1", accounts=accounts, rewrites=(rewrite(),), signals=(signal,)),
            record("2", accounts=accounts | {"cost": None}, model="large", session="2", outcome="failed", kept={}),
            record("3", accounts={"raw_tokens": 1}, retry=True, kept={"short": 2, "off": 1}, model=None),
        ]
    )
    totals = await archive.totals()
    assert (totals.requests, totals.sessions, totals.retries, totals.rewrites) == (3, 2, 1, 1)
    assert totals.outcomes == {"completed": 2, "failed": 1}
    assert totals.kept == {"short": 3, "off": 1}
    assert totals.signals == {"recall": 1}
    assert totals.accounts == {"raw_tokens": 21, "saved_by_rule": {"gutter@1": 4}, "cost": 0.5}
    assert totals.models["large"] == {"requests": 1, "accounts": {"raw_tokens": 10, "saved_by_rule": {"gutter@1": 2}}}
    assert totals.models[""] == {"requests": 1, "accounts": {"raw_tokens": 1}}


async def test_totals_since(archive: Archive, record: Record) -> None:
    """Sums can begin at a time."""
    await archive.append([record(str(k), ended=float(k)) for k in range(10)])
    assert (await archive.totals(since=7.0)).requests == 3
    assert (await archive.totals(since=99.0)).accounts == {}


async def test_rewrites(archive: Archive, record: Record, rewrite: Rewrite) -> None:
    """Rewrites are listed newest first without texts, and shown with them."""
    await archive.append([record("1", rewrites=(rewrite(),)), record("2", session="2", rewrites=(rewrite("x y"),))])
    assert [(row.id, row.exchange, row.texts) for row in await archive.rewrites(10)] == [
        ("2", "2", None),
        ("1", "1", None),
    ]
    assert [row.id for row in await archive.rewrites(1)] == ["2"]
    assert [row.id for row in await archive.rewrites(10, session="session 1")] == ["1"]
    row = await archive.rewrite("2")
    assert row is not None
    assert row.texts == RewriteTexts(command="ls", before="x y", after="one\nthree", omissions=(("abc123", "two\n"),))
    assert (row.tool, row.rules, row.tokens_before, row.tokens_after) == ("bash", (("gutter", 1),), 5, 3)
    assert await archive.rewrite("3") is None
    assert await archive.rewrite("not a number") is None


async def test_export(archive: Archive, record: Record, rewrite: Rewrite) -> None:
    """All rewrites go out in the order of the chain, as plain data."""
    await archive.append([record(str(k), rewrites=(rewrite(f"text {k}"),)) for k in range(450)])
    rows = [json.loads(json.dumps(row)) async for row in archive.export_rewrites()]
    assert [row["texts"]["before"] for row in rows] == [f"text {k}" for k in range(450)]
    assert len({row["digest"] for row in rows}) == 450


async def test_omitted(archive: Archive, record: Record, rewrite: Rewrite) -> None:
    """Omitted text is found by tenant and id; where one id stands for two texts nobody is told a wrong one."""
    await archive.append([record("1", rewrites=(rewrite(omissions=(("aaa111", "one"), ("bbb222", "two"))),))])
    await archive.append([record("2", rewrites=(rewrite(omissions=(("aaa111", "one"), ("bbb222", "other"))),))])
    assert await archive.omitted("tenant", "aaa111") == "one"
    assert await archive.omitted("tenant", "bbb222") is None
    assert await archive.omitted("another", "aaa111") is None
    assert await archive.omitted("tenant", "ccc333") is None


async def test_sessions(archive: Archive, chain: Chain, record: Record) -> None:
    """A tenant's sessions come with the latest first, and each with all that was said in it."""
    question, answer, more = chain("a", {"role": "assistant", "content": "b"}, "c")
    await archive.append(
        [
            record("1", [question], reply=answer, session="old", ended=5.0),
            record("2", [question, answer, more], session="old", ended=6.0),
            record("3", [question], session="new", ended=9.0),
            record("4", [question], session="other", tenant="another", ended=10.0),
            record("5", session="relayed", ended=11.0),
        ]
    )
    assert await archive.sessions("tenant", 5) == ["new", "old"]
    assert await archive.sessions("tenant", 1) == ["new"]
    assert await archive.sessions(None, 5) == ["other", "new", "old"]
    assert await archive.conversation("old") == (question, answer, more)
    assert await archive.conversation("nobody knows") == ()


async def test_a_session_whose_id_two_tenants_chose(
    archive: Archive, chain: Chain, record: Record, rewrite: Rewrite
) -> None:
    """Each is told of its own; without a tenant the one that was heard last speaks, and all rewrites are listed."""
    mine, theirs = chain("mine"), chain("theirs")
    await archive.append([record("1", mine, ended=5.0, rewrites=(rewrite(),))])
    await archive.append([record("2", theirs, tenant="another", ended=6.0, rewrites=(rewrite(),))])
    said = [await archive.conversation("session 1", tenant) for tenant in ("tenant", "another", "nobody", None)]
    made = [await archive.rewrites(9, "session 1", tenant) for tenant in ("tenant", "another", "nobody", None)]
    assert said == [mine, theirs, (), theirs]
    assert [[row.exchange for row in rows] for rows in made] == [["1"], ["2"], [], ["2", "1"]]


async def test_left_off(archive: Archive, chain: Chain, record: Record) -> None:
    """A session stands at the last request that was taken; nobody else's session of the same name counts."""
    question, answer, more = chain("a", {"role": "assistant", "content": "b"}, "c")
    await archive.append(
        [
            record("1", [question, answer], started=5.0, ended=6.0),
            record("2", [question], started=3.0, ended=4.0),
            record("3", [question, answer, more], status=529, ended=9.0),
            record("4", [question, answer, more], tenant="another", ended=9.0),
            record("5", ended=10.0),
        ]
    )
    names = frozenset({question.hash, answer.hash})
    assert await archive.left_off("session 1", "tenant") == LeftOff(model="small", started=5.0, messages=names)
    assert await archive.left_off("session 2", "tenant") is None
    assert await archive.left_off("session 1", "nobody") is None


async def test_examples(archive: Archive, chain: Chain, record: Record) -> None:
    """Of each kind of exchange the latest, the latest kind first; none of others, none that was no conversation."""
    said = chain("a")
    hit = {"prompt_tokens_details": {"cached_tokens": 64}}
    await archive.append(
        [
            record("old", said, ended=1.0),
            record("new", said, ended=3.0, session="session 2"),
            record("streamed", said, ended=2.0, stream=True),
            record("cached", said, ended=4.0, reported=hit),
            record("cached more", said, ended=4.5, reported={"input_tokens_details": {"cached_tokens": 9}}),
            record("cached most", said, ended=5.0, reported={"cache_read_input_tokens": 128}),
            record("not cached", said, ended=0.5, reported={"cached_tokens": 0}),
            record("refused", said, ended=6.0, status=400, error="too long"),
            record("theirs", said, ended=9.0, tenant="other"),
            record("a list of models", ended=9.0),
        ]
    )
    assert await archive.examples("tenant") == ["refused", "cached most", "new", "streamed"]
    assert await archive.examples("nobody") == []
