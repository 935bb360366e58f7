"""A closed exchange, written up in the archive's words."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from gateway.cache import BoundedCache
from gateway.exchange import Exchange
from gateway.identity import Observer, chain
from gateway.passes import FirstSight, Forms, Pass
from gateway.recording.handover import Handover
from gateway.recording.ledger import MESSAGE_OVERHEAD, Lacking, Ledger
from gateway.recording.prices import PriceBook
from gateway.recording.tokens import TokenCounter
from gateway.rewriter import Outgoing
from gateway.sessions import Sessions
from gateway.shapes import Shape, anthropic_messages, chat_completions
from gateway.types import Outcome
from memory import ExchangeRecord, LeftOff, message_hash
from rules_engine import RuleSet
from tests.samples import PROGRESS, SAMPLES, Step, dump

SAMPLE = SAMPLES[chat_completions.PATH]
TOKENS, PRICES = TokenCounter(), PriceBook()
SIGHT = FirstSight(ruleset=RuleSet(), shell=True, whole=True, chars=9000, cached_from=0, allowed=lambda tool: True)


class Books:
    """A ledger, and the sessions that its exchanges belong to."""

    def __init__(self, shape: Shape = chat_completions, **more: Any) -> None:
        self.shape, self.sample = shape, SAMPLES[shape.PATH]
        self.ledger, self.handover = Ledger(TOKENS, PRICES, **more), Handover()
        self.sessions, self.observer = Sessions(), Observer()
        self.pinned: dict[str, Any] = {}

    def close(
        self, steps: list[Step], reply: bytes | None = None, outcome: Outcome = "completed", **more: Any
    ) -> Exchange:
        """An exchange after these steps, with everything new rewritten."""
        return self.sent(dump(self.sample.request(steps, **{"model": "gpt-4o"} | more)), reply, outcome)

    def sent(self, body: bytes, reply: bytes | None = None, outcome: Outcome = "completed") -> Exchange:
        """The same with this body."""
        conversation = self.shape.read(body, BoundedCache(1 << 20))
        links = chain(conversation, "t")
        seen = self.observer.observe(conversation, "t", links)
        new = frozenset(i.observation.key for one in seen for i in one.items if i.observation.key not in self.pinned)
        done = Pass(forms=Forms(), pinned=self.pinned, stored={}).run(seen, new, SIGHT)
        shown = tuple(done.shown.values())
        fresh = frozenset(pinned.key for pinned in done.wanted)
        history = self.sessions.resume(conversation, links, None)
        self.sessions.remember(conversation, links, history, {})
        exchange = Exchange(id="r", method="POST", path="/v1/x?q=1", started=10.0, shape=self.shape, body=body)
        exchange.conversation, exchange.history = conversation, history
        exchange.outgoing = Outgoing(body=body, shown=shown, fresh=fresh, kept=Counter({"short": 1}))
        exchange.status, exchange.outcome, exchange.ended = 200, outcome, 12.0
        exchange.answer_headers = ((b"content-type", b"application/json"),)
        exchange.reply = [self.sample.answer("fine") if reply is None else reply]
        return exchange

    def write_up(self, exchange: Exchange) -> ExchangeRecord:
        """Its record, by way of its entry."""
        return self.ledger.write_up(self.handover.entry(exchange))


NOISY = [Step("tar cvf a.tar .", PROGRESS)]
CLAUDE = "claude-sonnet-4-5"
EPHEMERAL = {"type": "ephemeral"}
READ = Step("cat words", " ".join(f"word{k}" for k in range(2000)))


def test_tokens_are_counted_in_both_worlds() -> None:
    """The difference is what was taken out of the observation."""
    record = Books().write_up(Books().close(NOISY))
    saved = TOKENS.count(PROGRESS) - record.rewrites[0].tokens_after
    accounts: Any = record.accounts

    assert accounts["raw_tokens"] - accounts["forwarded_tokens"] == saved > 1000
    assert (accounts["novel_saved"], accounts["repeat_saved"]) == (saved, 0)
    assert sum(accounts["saved_by_class"].values()) == saved
    assert accounts["output_tokens"] == TOKENS.count("fine")
    assert not accounts["approximate"]


def test_what_is_sent_again_is_saved_again() -> None:
    """On record as repeated, and not as a new rewrite."""
    books = Books()
    first = books.write_up(books.close(NOISY))
    second = books.write_up(books.close([*NOISY, Step("true", "")]))
    accounts: Any = second.accounts

    assert (len(first.rewrites), len(second.rewrites)) == (1, 0)
    assert accounts["novel_saved"] == 0
    assert accounts["repeat_saved"] == first.accounts["novel_saved"]
    assert accounts["cost_forwarded"] < accounts["cost_raw"]
    assert second.session == first.session


def test_what_was_saved_before_a_restart_is_not_saved_anew() -> None:
    """Neither the sessions nor the books remember it then; the decision does."""
    before, after = Books(), Books()
    first: Any = before.write_up(before.close(NOISY)).accounts
    after.pinned = before.pinned
    again: Any = after.write_up(after.close([*NOISY, Step("true", "")])).accounts

    assert (again["novel_saved"], again["repeat_saved"]) == (0, first["novel_saved"])


@pytest.mark.parametrize(
    ("shape", "model", "started", "kept"),
    [
        pytest.param(chat_completions, "gpt-4o", 0.0, True, id="at once"),
        pytest.param(chat_completions, "gpt-4o", -9000.0, False, id="long after"),
        pytest.param(chat_completions, "gpt-4o-mini", 0.0, False, id="with another model"),
        pytest.param(anthropic_messages, CLAUDE, 0.0, True, id="where marks moved on"),
    ],
)
def test_a_session_goes_on_where_it_left_off(shape: Shape, model: str, started: float, kept: bool) -> None:
    """After a restart, what it sent last is in the provider's cache for as long as ever."""
    named = "gpt-4o" if shape is chat_completions else model
    before, after = Books(shape), Books(shape)
    steps = [*NOISY, READ, Step("true", "")]
    sent = before.write_up(before.close(steps[:2], model=named))
    after.pinned = before.pinned
    left = LeftOff(model=model, started=started, messages=frozenset(m.hash for m in sent.messages))
    went_on = before.write_up(before.close(steps, model=named))
    again = after.ledger.write_up(after.handover.entry(after.close(steps, model=named)), left)
    cached: Any = [record.accounts["cached_forwarded"] for record in (went_on, again)]

    assert (cached[1] > 0) == kept
    if kept and shape is chat_completions:
        assert cached[0] == cached[1]


@pytest.mark.parametrize("status", [400, 429, 502, 529])
def test_what_the_provider_refused_is_not_billed(status: int) -> None:
    """Its tokens were sent and forwarded; and the next request finds in the cache what it found without it."""
    steps = [*NOISY, Step("ls", "a\n" * 300)]
    told, plain = Books(), Books()
    before, refused, after = (books.close(done) for books, done in ((told, NOISY), (told, steps), (told, steps)))
    refused.status, refused.outcome, refused.reply = status, "failed", [b"{}"]
    told.write_up(before)
    accounts: Any = told.write_up(refused).accounts
    plain.write_up(plain.close(NOISY))

    assert accounts["raw_tokens"] > accounts["forwarded_tokens"] > 0
    assert (accounts["cost_raw"], accounts["cost_forwarded"], accounts["cost_output"]) == (0, 0, 0)
    found: Any = told.write_up(after).accounts
    assert found["cached_forwarded"] == plain.write_up(plain.close(steps)).accounts["cached_forwarded"]
    assert found["cost_forwarded"] > 0


def figures(books: Books, model: str, *, marked: bool, seconds: float = 9.0, **more: Any) -> Any:
    """Accounts of the second of two requests, of which the second goes on from the first."""
    accounts: Any = {}
    for steps, now in (([*NOISY, READ], 0.0), ([*NOISY, READ, Step("true", "")], seconds)):
        request = books.sample.request(steps, model=model)
        if not marked and books.shape is anthropic_messages:
            del request["messages"][-1]["content"][-1]["cache_control"]
        exchange = books.sent(dump(request | more))
        exchange.started = now
        accounts = books.write_up(exchange).accounts
    return accounts


@pytest.mark.parametrize(
    ("shape", "model", "marked", "more", "kept"),
    [
        pytest.param(anthropic_messages, CLAUDE, True, {}, True, id="a mark that moves on"),
        pytest.param(anthropic_messages, CLAUDE, False, {}, False, id="no mark"),
        pytest.param(anthropic_messages, CLAUDE, False, {"cache_control": EPHEMERAL}, True, id="automatic"),
        pytest.param(anthropic_messages, "deepseek-chat", False, {}, True, id="a maker that asks for none"),
        pytest.param(chat_completions, CLAUDE, False, {}, True, id="a server that may set them itself"),
    ],
)
def test_claude_caches_what_is_marked(shape: Shape, model: str, marked: bool, more: dict[str, Any], kept: bool) -> None:
    """Without a mark each request is plain input to it."""
    accounts = figures(Books(shape), model, marked=marked, **more)
    price = PRICES.find(model)
    assert price is not None
    plain = price.at(0).input * accounts["forwarded_tokens"]

    assert (accounts["cached_raw"] > 0, accounts["cached_forwarded"] > 0) == (kept, kept)
    assert accounts["cost_forwarded"] < plain / 2 if kept else accounts["cost_forwarded"] == pytest.approx(plain)


def test_only_the_system_is_marked() -> None:
    """Then it is read from the cache, and the messages are plain input each time."""
    system = [{"type": "text", "text": "word " * 3000, "cache_control": EPHEMERAL}]
    accounts = figures(Books(anthropic_messages), CLAUDE, marked=False, system=system)

    assert 3000 < accounts["cached_raw"] == accounts["cached_forwarded"] < accounts["forwarded_tokens"] - 2000
    rest = accounts["forwarded_tokens"] - accounts["cached_forwarded"]
    assert accounts["cost_forwarded"] == pytest.approx(0.3e-6 * accounts["cached_forwarded"] + 3e-6 * rest)


@pytest.mark.parametrize(("mark", "kept"), [(EPHEMERAL, False), (EPHEMERAL | {"ttl": "1h"}, True)])
def test_an_hour_is_kept_where_it_is_asked_for(mark: dict[str, Any], kept: bool) -> None:
    """After ten minutes nothing else is left in the cache."""
    accounts = figures(Books(anthropic_messages), CLAUDE, marked=False, seconds=600.0, cache_control=mark)
    assert (accounts["cached_forwarded"] > 0) == kept


def test_where_marks_do_not_stand_prompts_are_taken_for_marked() -> None:
    """A recording holds none, whatever its agent sent."""
    recorded = figures(Books(anthropic_messages, marks_stand=False), CLAUDE, marked=False)
    assert recorded["cached_forwarded"] > 0
    assert recorded == figures(Books(anthropic_messages), CLAUDE, marked=True)


def test_a_model_without_a_price_costs_nobody_knows() -> None:
    """Not nought."""
    accounts = Books().write_up(Books().close([], model="my-own-model")).accounts

    assert accounts["raw_tokens"]
    assert (accounts["price"], accounts["cost_raw"], accounts["cost_forwarded"]) == (None, None, None)


def test_messages_are_named_by_content_and_parent() -> None:
    """As the client sent them, byte for byte; the reply follows the last."""
    exchange = Books().close(NOISY)
    record = Books().write_up(exchange)
    parent = None
    for message, sent in zip(record.messages, json.loads(exchange.body)["messages"], strict=True):
        assert json.loads(message.content) == sent
        assert message.content in exchange.body
        assert (message.hash, message.parent) == (message_hash(parent, message.content), parent)
        parent = message.hash

    assert record.tip == parent
    assert record.reply is not None
    assert (record.reply.parent, json.loads(record.reply.content)["content"]) == (parent, "fine")
    assert json.loads(record.head)["messages"] == []
    assert json.loads(record.head)["tools"] == json.loads(exchange.body)["tools"]


def test_a_rewrite_is_on_record_with_both_texts() -> None:
    """And with the rules that made it."""
    (rewrite,) = Books().write_up(Books().close(NOISY)).rewrites

    assert (rewrite.tool, rewrite.command, rewrite.before) == ("bash", "tar cvf a.tar .", PROGRESS)
    assert rewrite.rules
    assert TOKENS.count(rewrite.after) == rewrite.tokens_after < rewrite.tokens_before == TOKENS.count(PROGRESS)


@pytest.mark.parametrize(
    ("reply", "outcome", "result", "error"),
    [
        (None, "completed", "completed", None),
        (b"", "completed", "failed", "the response is empty"),
        (b'{"error": {"message": "no"}}', "completed", "failed", "no"),
        (b'data: {"choices": [{"index": 0, "delta": {"content": "x"}}]}\n\n', "completed", "failed", None),
        (b'data: {"choices": [{"index": 0, "delta": {"content": "x"}}]}\n\n', "abandoned", "abandoned", None),
        (None, "failed", "failed", None),
    ],
    ids=["whole", "empty", "an error", "a stream without its end", "left", "failed though all is there"],
)
def test_how_an_exchange_ended(reply: bytes | None, outcome: Outcome, result: str, error: str | None) -> None:
    """What came decides, where the connection alone does not."""
    record = Books().write_up(Books().close([], reply, outcome))
    assert (record.outcome, record.error) == (result, error)


def test_a_request_that_was_never_read_is_on_record() -> None:
    """With what is known of it, in a session of its own."""
    exchange = Exchange(id="r9", method="POST", path="/v1/x?q=1", started=1.0, shape=chat_completions, body=b"{")
    exchange.outcome, exchange.error, exchange.status = "failed", "no JSON", 400
    record = Books().write_up(exchange)

    assert (record.session, record.path, record.model, record.messages, record.head) == ("r-r9", "/v1/x", None, (), b"")
    assert (record.accounts, record.kept, record.reported, record.tip) == ({}, {}, None, None)


def test_what_went_wrong_with_the_prefix_is_on_record() -> None:
    """Beside the reasons why texts were kept."""
    exchange = Books().close([])
    exchange.prefix_whole, exchange.late_commit = False, True

    assert Books().write_up(exchange).kept == {"short": 1, "broken prefix": 1, "late commit": 1}


def test_an_empty_conversation_still_has_its_frame() -> None:
    """Each message costs a few tokens beside its words."""
    accounts: Any = Books().write_up(Books().close([])).accounts
    words = sum(TOKENS.count(m["content"]) for m in SAMPLE.request()["messages"])
    assert accounts["raw_tokens"] > words + 2 * MESSAGE_OVERHEAD


def test_a_session_hands_its_messages_over_once() -> None:
    """The next exchange brings what is new, and names the same history; after a loss all is brought again."""
    books = Books()
    first, second = books.write_up(books.close(NOISY)), books.write_up(books.close(NOISY))
    books.ledger.forget()
    with pytest.raises(Lacking):
        books.write_up(books.close(NOISY))
    books.handover.forget()
    third = books.write_up(books.close(NOISY))

    assert first.messages
    assert second.messages == ()
    assert second.tip == first.tip == first.messages[-1].hash
    assert third.messages == first.messages


def test_one_that_cannot_be_written_up_is_missed_by_the_next() -> None:
    """Rather than that a session goes on with messages that nobody has."""
    books = Books()
    entry = books.handover.entry(books.close(NOISY))
    with pytest.raises(KeyError):
        books.ledger.write_up(replace(entry, record=replace(entry.record, shape="unheard of")))
    with pytest.raises(Lacking):
        books.write_up(books.close([*NOISY, Step("true", "")]))


def test_what_is_handed_over_in_parts_gives_the_same_records() -> None:
    """As what is handed over whole: a session that grows, is tried again, and goes on from an earlier place."""
    books, whole = Books(), Books()
    other = Step("ls", "a.py\nb.py")
    for steps in ([], NOISY, [*NOISY, other], [*NOISY, other], [other], [*NOISY, *NOISY]):
        exchange = books.close(steps)
        record, again = books.write_up(exchange), whole.ledger.write_up(Handover().entry(exchange))

        assert replace(record, messages=again.messages) == again
        assert record.messages == again.messages[len(again.messages) - len(record.messages) :]
