"""A closed exchange, written up: tokens counted, money settled, everything in the archive's words.

It costs time in proportion to what is new in the exchange, so it runs in a thread, off the request's path.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b

from gateway.accounts import Accounts, CacheSimulator, Counted, read_reported, settle
from gateway.cache import BoundedCache
from gateway.exchange import Exchange
from gateway.passes import Shown
from gateway.prices import PriceBook
from gateway.replies import Reply
from gateway.tokens import TokenCounter
from gateway.types import Conversation, Outcome
from memory import ExchangeRecord, Message, RewriteRecord, SignalRecord, canonical, message_hash
from rules_engine import Applied, Form

MESSAGE_OVERHEAD = 4
"""Tokens that a chat format spends around each message."""


class Ledger:
    """Writes exchanges up."""

    def __init__(self, tokens: TokenCounter, prices: PriceBook) -> None:
        self._tokens = tokens
        self._prices = prices
        self._cache = CacheSimulator()
        self._counts: BoundedCache[bytes, int] = BoundedCache(100_000)
        self._names: BoundedCache[tuple[str | None, bytes], str] = BoundedCache(100_000)
        self._given: BoundedCache[tuple[str, str], bool] = BoundedCache(100_000)

    def write_up(self, exchange: Exchange) -> ExchangeRecord:
        """The record of an exchange."""
        reply = _reply(exchange)
        conversation, history = exchange.conversation, exchange.history
        session = history.session if history else f"r-{exchange.id}"
        tip, messages = self._messages(session, exchange.body, conversation) if conversation else (None, ())
        head = _head(exchange.body, conversation) if conversation else b""
        accounts = self._settle(exchange, conversation, head, reply) if conversation else None
        return ExchangeRecord(
            id=exchange.id,
            session=session,
            parent_session=history.parent if history else None,
            tenant=exchange.tenant,
            started=exchange.started,
            first_byte=exchange.first_byte,
            ended=exchange.ended,
            method=exchange.method,
            path=exchange.path.partition("?")[0],
            shape=exchange.shape.NAME if exchange.shape else None,
            upstream=exchange.upstream,
            model=conversation.model if conversation else None,
            stream=conversation.stream if conversation else False,
            retry=history.retry if history else False,
            status=exchange.status,
            outcome=exchange.outcome if reply is None or reply.complete else _cut(exchange),
            error=exchange.error or (reply.error if reply else None),
            tip=tip,
            messages=messages,
            head=head,
            reply=_reply_message(reply, tip),
            reported=reply.usage if reply else None,
            accounts=accounts.as_dict() if accounts else {},
            kept=_kept(exchange),
            rewrites=tuple(self._rewrite(shown) for shown in _fresh(exchange)),
            signals=_signals(exchange),
        )

    def _settle(self, exchange: Exchange, conversation: Conversation, head: bytes, reply: Reply | None) -> Accounts:
        counted = self._count(exchange, conversation, head)
        price = self._prices.find(conversation.model)
        history = exchange.history
        cached = None
        if price is not None and history is not None:
            cached = self._cache.look(history.session, counted, price, exchange.started, history.parent)
        output = self._tokens.count(_words(reply)) if reply else 0
        return settle(
            counted,
            output,
            read_reported(reply.usage if reply else None),
            price,
            cached,
            approximate=self._tokens.approximate,
        )

    def _count(self, exchange: Exchange, conversation: Conversation, head: bytes) -> list[Counted]:
        known = exchange.history.known if exchange.history else 0
        shown: dict[int, list[Shown]] = {}
        for one in exchange.outgoing.shown if exchange.outgoing else ():
            if one.is_rewritten:
                shown.setdefault(one.at, []).append(one)
        digest = blake2b(head, digest_size=16).digest()
        size = self._of(digest, lambda: head.decode("utf-8", "replace"))
        out = [Counted(raw=digest, forwarded=digest, raw_tokens=size, forwarded_tokens=size)]
        for k, placed in enumerate(conversation.messages):
            out.append(self._counted(placed.message.canonical, placed.message.words, shown.get(k, []), k >= known))
        return out

    def _counted(self, canonical_digest: bytes, words: str, shown: list[Shown], novel: bool) -> Counted:
        raw = self._of(canonical_digest, lambda: words) + MESSAGE_OVERHEAD
        if not shown:
            return Counted(
                raw=canonical_digest, forwarded=canonical_digest, raw_tokens=raw, forwarded_tokens=raw, novel=novel
            )
        name = blake2b(canonical_digest, digest_size=16)
        saved = 0
        for one in shown:
            name.update(one.digest.encode())
            saved += self._text(one.item.digest, one.item.observation.text) - self._text(one.digest, one.text)
        applied = tuple(a for one in shown for a in _applied(one))
        return Counted(
            raw=canonical_digest,
            forwarded=name.digest(),
            raw_tokens=raw,
            forwarded_tokens=raw - saved,
            applied=applied,
            novel=novel,
        )

    def _text(self, digest: str, text: str) -> int:
        return self._of(bytes.fromhex(digest), lambda: text)

    def _of(self, name: bytes, text: Callable[[], str]) -> int:
        known = self._counts.get(name)
        if known is None:
            known = self._tokens.count(text())
            self._counts.put(name, known)
        return known

    def give_again(self) -> None:
        """Forget which messages were handed over: a record was lost on its way, and later ones must not lack them."""
        self._given = BoundedCache(100_000)

    def _messages(
        self, session: str, body: bytes, conversation: Conversation
    ) -> tuple[str | None, tuple[Message, ...]]:
        """The name of the last message, and those that this session did not hand over before."""
        out = []
        parent = None
        for placed in conversation.messages:
            known = (parent, placed.message.raw)
            name = self._names.get(known)
            if name is None:
                name = message_hash(parent, body[placed.start : placed.end])
                self._names.put(known, name)
            if not self._given.has((session, name)):
                self._given.put((session, name), True)
                content = body[placed.start : placed.end]
                out.append(Message(hash=name, parent=parent, role=placed.message.role, content=content))
            parent = name
        return parent, tuple(out)

    def _rewrite(self, shown: Shown) -> RewriteRecord:
        observation = shown.item.observation
        return RewriteRecord(
            key=observation.key,
            tool=observation.tool,
            command=observation.command,
            before=observation.text,
            after=shown.text,
            rules=tuple(a.rule for a in _applied(shown)),
            omissions=_omissions(observation.text, shown.form),
            tokens_before=self._tokens.count(observation.text),
            tokens_after=self._tokens.count(shown.text),
        )


def _head(body: bytes, conversation: Conversation) -> bytes:
    start, end = conversation.head
    return body[:start] + b"[]" + body[end:]


def _reply(exchange: Exchange) -> Reply | None:
    if exchange.shape is None or exchange.status is None:
        return None
    fields = dict(exchange.answer_headers)
    return exchange.shape.read_reply(
        b"".join(exchange.reply),
        fields.get(b"content-type", b"").decode("latin-1"),
        fields.get(b"content-encoding", b"").decode("latin-1"),
    )


def _cut(exchange: Exchange) -> Outcome:
    return "failed" if exchange.outcome == "completed" else exchange.outcome


def _reply_message(reply: Reply | None, tip: str | None) -> Message | None:
    if reply is None or not reply.message or tip is None:
        return None
    content = canonical(reply.message)
    return Message(hash=message_hash(tip, content), parent=tip, role="assistant", content=content)


def _words(reply: Reply | None) -> str:
    if reply is None:
        return ""
    content = reply.message.get("content")
    calls = reply.message.get("tool_calls")
    return (content if isinstance(content, str) else "") + (canonical(calls).decode() if calls else "")


def _kept(exchange: Exchange) -> dict[str, int]:
    kept = dict(exchange.outgoing.kept) if exchange.outgoing else {}
    if not exchange.prefix_whole:
        kept["broken prefix"] = 1
    if exchange.late_commit:
        kept["late commit"] = 1
    return kept


def _fresh(exchange: Exchange) -> list[Shown]:
    outgoing = exchange.outgoing
    return (
        [s for s in outgoing.shown if s.is_rewritten and s.item.observation.key in outgoing.fresh] if outgoing else []
    )


def _signals(exchange: Exchange) -> tuple[SignalRecord, ...]:
    signals = exchange.outgoing.signals if exchange.outgoing else ()
    return tuple(
        SignalRecord(name=s.name, key=s.key, rules=s.rules, evidence=s.evidence, weight=s.weight) for s in signals
    )


def _applied(shown: Shown) -> tuple[Applied, ...]:
    if shown.form is not None:
        return shown.form.applied
    removed = len(shown.item.observation.text) - len(shown.text)
    return (Applied(rule=("recall", 1), loss="lossless", removed=removed),)


def _omissions(text: str, form: Form | None) -> tuple[tuple[str, str], ...]:
    if form is None:
        return ()
    return tuple((o.id, "".join(text[start:end] for start, end in o.spans)) for o in form.omissions)
