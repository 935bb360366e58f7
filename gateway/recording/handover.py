"""From an exchange to its entry: what was handed over before of the same session is not copied again."""

from __future__ import annotations

from hashlib import blake2b

from gateway.cache import BoundedCache
from gateway.exchange import Exchange
from gateway.passes import Shown
from gateway.recording.entries import Change, Entry, Fresh, Head, Told
from gateway.rewriter import Outgoing
from gateway.types import Conversation
from memory import ExchangeRecord, SignalRecord
from rules_engine import Applied

MESSAGES = 100_000
"""Messages of sessions whose handing over is remembered."""
HEADS = 20_000
"""The same for what stands around them."""


class Handover:
    """Makes entries for one reader, who gets all of them in order."""

    def __init__(self) -> None:
        self._lines: BoundedCache[str, list[bytes]] = BoundedCache(MESSAGES)
        self._heads: BoundedCache[bytes, bool] = BoundedCache(HEADS)

    def forget(self) -> None:
        """Start anew: the reader has changed, or has lost what it was given."""
        self._lines = BoundedCache(MESSAGES)
        self._heads = BoundedCache(HEADS)

    def entry(self, exchange: Exchange) -> Entry:
        """The entry of an exchange."""
        conversation = exchange.conversation
        record = _record(exchange)
        fields = dict(exchange.answer_headers)
        read = exchange.shape is not None and exchange.status is not None
        same, messages = self._messages(record.session, exchange, conversation) if conversation else (0, ())
        return Entry(
            record=record,
            head=self._head(exchange.body, conversation) if conversation else None,
            same=same,
            messages=messages,
            reply=b"".join(exchange.reply) if read else None,
            content_type=fields.get(b"content-type", b"").decode("latin-1"),
            content_encoding=fields.get(b"content-encoding", b"").decode("latin-1"),
        )

    def _head(self, body: bytes, conversation: Conversation) -> Head:
        start, end = conversation.head
        content = b"".join((body[:start], b"[]", body[end:]))
        name = blake2b(content, digest_size=16).digest()
        known = self._heads.get(name) is not None
        if not known:
            self._heads.put(name, True)
        return Head(name=name, content=None if known else content)

    def _messages(self, session: str, exchange: Exchange, conversation: Conversation) -> tuple[int, tuple[Told, ...]]:
        """How many messages are as the session's last entry had them, and the others."""
        marks = [placed.message.raw for placed in conversation.messages]
        shown: dict[int, list[Shown]] = {}
        for one in exchange.outgoing.shown if exchange.outgoing else ():
            if one.digest != one.item.digest:
                marks[one.at] += one.digest.encode()
                shown.setdefault(one.at, []).append(one)
        same = _shared(self._lines.get(session) or [], marks)
        self._lines.put(session, marks, len(marks) + 1)
        return same, tuple(
            Told(
                name=placed.message.canonical,
                role=placed.message.role,
                content=_content(exchange.body, conversation, k),
                words=placed.message.words,
                changes=tuple(_change(one, exchange.outgoing) for one in shown.get(k, ())),
            )
            for k, placed in enumerate(conversation.messages[same:], same)
        )


def _content(body: bytes, conversation: Conversation, at: int) -> bytes:
    """A message as it came; the user's, where a string stood in the place of all."""
    placed = conversation.messages[at]
    raw = conversation.past[at] if at < len(conversation.past) else body[placed.start : placed.end]
    return b'{"role":"user","content":' + raw + b"}" if raw.startswith(b'"') else raw


def _shared(old: list[bytes], new: list[bytes]) -> int:
    for k, (a, b) in enumerate(zip(old, new, strict=False)):
        if a != b:
            return k
    return min(len(old), len(new))


def _record(exchange: Exchange) -> ExchangeRecord:
    conversation, history = exchange.conversation, exchange.history
    return ExchangeRecord(
        id=exchange.id,
        session=history.session if history else f"r-{exchange.id}",
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
        outcome=exchange.outcome,
        error=exchange.error,
        tip=None,
        messages=(),
        head=b"",
        reply=None,
        reported=None,
        accounts={},
        kept=_kept(exchange),
        signals=_signals(exchange),
    )


def _change(shown: Shown, outgoing: Outgoing | None) -> Change:
    observation = shown.item.observation
    fresh = None
    if outgoing and observation.key in outgoing.fresh:
        omissions = tuple((o.id, o.spans) for o in shown.form.omissions) if shown.form else ()
        fresh = Fresh(key=observation.key, tool=observation.tool, command=observation.command, omissions=omissions)
    return Change(
        raw=shown.item.digest,
        forwarded=shown.digest,
        before=observation.text,
        after=shown.text,
        applied=_applied(shown),
        fresh=fresh,
    )


def _applied(shown: Shown) -> tuple[Applied, ...]:
    if shown.form is not None:
        return shown.form.applied
    removed = len(shown.item.observation.text) - len(shown.text)
    return (Applied(rule=("recall", 1), loss="lossless", removed=removed),)


def _kept(exchange: Exchange) -> dict[str, int]:
    kept = dict(exchange.outgoing.kept) if exchange.outgoing else {}
    if not exchange.prefix_whole:
        kept["broken prefix"] = 1
    if exchange.late_commit:
        kept["late commit"] = 1
    return kept


def _signals(exchange: Exchange) -> tuple[SignalRecord, ...]:
    signals = exchange.outgoing.signals if exchange.outgoing else ()
    return tuple(
        SignalRecord(name=s.name, key=s.key, rules=s.rules, evidence=s.evidence, weight=s.weight) for s in signals
    )
