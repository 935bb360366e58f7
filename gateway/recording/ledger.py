"""An entry, written up: tokens counted, money settled, everything in the archive's words.

It costs time in proportion to what is new in the exchange.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import takewhile

from gateway.cache import BoundedCache
from gateway.recording import marks
from gateway.recording.accounts import Accounts, CacheSimulator, Counted, read_reported, settle
from gateway.recording.entries import Change, Entry, Fresh, Head, Told
from gateway.recording.prices import Price, PriceBook
from gateway.recording.tokens import TokenCounter
from gateway.replies import Reply
from gateway.shapes import SHAPES, anthropic_messages
from memory import ExchangeRecord, LeftOff, Message, RewriteRecord, canonical, message_hash

MESSAGE_OVERHEAD = 4
"""Tokens that a chat format spends around each message."""
MESSAGES = 200_000
"""Messages whose counts are remembered, session by session."""
HEAD_BYTES = 8_000_000

_REFUSED = 400
"""The least status with which a provider says that it did not take a request."""
_SHAPES = {shape.NAME: shape for shape in SHAPES.values()}


class Lacking(Exception):
    """An entry refers to what this ledger was never given, or has forgotten: it has to come whole."""


@dataclass(slots=True)
class _Line:
    """A session's messages, as its last entry had them."""

    counted: list[Counted] = field(default_factory=list)
    names: list[str] = field(default_factory=list)


class Ledger:
    """Writes entries up, in the order in which they were made."""

    def __init__(self, tokens: TokenCounter, prices: PriceBook, *, marks_stand: bool = True) -> None:
        """Where `marks_stand` no more in what requests were, prompts are taken for marked to their ends."""
        self._marks_stand = marks_stand
        self._counter = tokens
        self._prices = prices
        self._cache = CacheSimulator()
        self._counts: BoundedCache[bytes, int] = BoundedCache(100_000)
        self._lines: BoundedCache[str, _Line] = BoundedCache(MESSAGES)
        self._heads: BoundedCache[bytes, bytes] = BoundedCache(HEAD_BYTES)
        self._head_marks: BoundedCache[bytes, marks.HeadMarks] = BoundedCache(1000)

    def forget(self) -> None:
        """Ask for everything anew: a record was lost on its way, and later ones must not lack its messages."""
        self._lines = BoundedCache(MESSAGES)
        self._heads = BoundedCache(HEAD_BYTES)

    def knows(self, session: str) -> bool:
        """Whether it has the messages of a session."""
        return self._lines.has(session)

    def write_up(self, entry: Entry, left_off: LeftOff | None = None) -> ExchangeRecord:
        """The record of an exchange. Raises `Lacking` if the entry is not whole for this ledger.

        `left_off` says where the session stood that this ledger does not know: that much may be in the provider's cache.
        """
        session = entry.record.session
        try:
            return self._write_up(entry, left_off)
        except BaseException:
            self._lines.drop(session)  # it may be half as long as the next entry takes it to be
            raise

    def tokens(self, digest: str, text: str) -> int:
        """How many `text`, whose digest is given, has."""
        return self._of(bytes.fromhex(digest), lambda: text)

    def _write_up(self, entry: Entry, left_off: LeftOff | None) -> ExchangeRecord:
        reply = _reply(entry)
        head = self._head(entry.head) if entry.head else b""
        messages, line = self._extend(entry) if entry.head else ((), _Line())
        tip = line.names[-1] if line.names else None
        accounts = self._settle(entry, head, line, reply, left_off).as_dict() if entry.head else {}
        for k in range(entry.same, len(line.counted)):
            line.counted[k] = replace(line.counted[k], novel=False)
        record = entry.record
        return replace(
            record,
            outcome=record.outcome if reply is None or reply.complete or record.outcome != "completed" else "failed",
            error=record.error or (reply.error if reply else None),
            tip=tip,
            messages=messages,
            head=head,
            reply=_reply_message(reply, tip),
            reported=reply.usage if reply else None,
            accounts=accounts,
            rewrites=tuple(
                self._rewrite(c, c.fresh) for told in entry.messages for c in told.changes if c.fresh is not None
            ),
        )

    def _head(self, head: Head) -> bytes:
        content = head.content
        if content is None:
            content = self._heads.get(head.name)
            if content is None:
                raise Lacking
        else:
            self._heads.put(head.name, content, len(content) + 100)
        return content

    def _extend(self, entry: Entry) -> tuple[tuple[Message, ...], _Line]:
        """The session's line with the entry's messages at its end, and these as the archive has them."""
        session = entry.record.session
        line = self._lines.get(session) or _Line()
        if len(line.names) < entry.same:
            raise Lacking
        del line.names[entry.same :], line.counted[entry.same :]
        out = []
        for told in entry.messages:
            parent = line.names[-1] if line.names else None
            name = message_hash(parent, told.content)
            out.append(Message(hash=name, parent=parent, role=told.role, content=told.content))
            line.names.append(name)
            line.counted.append(self._counted(told))
        self._lines.put(session, line, len(line.names) + 1)
        return tuple(out), line

    def _settle(
        self, entry: Entry, head: bytes, line: _Line, reply: Reply | None, left_off: LeftOff | None
    ) -> Accounts:
        assert entry.head is not None
        record = entry.record
        size = self._of(entry.head.name, lambda: head.decode("utf-8", "replace"))
        name = entry.head.name
        counted = [Counted(raw=name, forwarded=name, raw_tokens=size, forwarded_tokens=size), *line.counted]
        price = self._prices.find(record.model or "")
        marked = self._marked(entry.head.name, head, line) if price and self._goes_by_marks(record, price) else None
        if price is not None and left_off is not None and left_off.model == record.model:
            self._go_on(record.session, left_off, counted, line, price, marked)
        cached = None
        if price is not None and record.status is not None and record.status >= _REFUSED:
            price, cached = price.free(), (0, 0)  # nor is anything of it in the provider's cache
        elif price is not None:
            cached = self._cache.look(record.session, counted, price, record.started, record.parent_session, marked)
        output = self._counter.count(reply.words) if reply else 0
        reported = read_reported(reply.usage if reply else None)
        return settle(counted, output, reported, price, cached, marked=marked, approximate=self._counter.approximate)

    def _go_on(
        self,
        session: str,
        left_off: LeftOff,
        counted: list[Counted],
        line: _Line,
        price: Price,
        marked: marks.Marked | None,
    ) -> None:
        """What the session sent last was forwarded as it is now: decisions stand. Its head is taken for the same."""
        if not self._cache.knows(session, price):
            sent = sum(1 for _ in takewhile(left_off.messages.__contains__, line.names)) + 1
            before = marked.within(sent) if marked else None
            self._cache.look(session, counted[:sent], price, left_off.started, marked=before)

    def _goes_by_marks(self, record: ExchangeRecord, price: Price) -> bool:
        """In other forms, and of other makers, many a server between caches by itself."""
        return self._marks_stand and price.by_marks and record.shape == anthropic_messages.NAME

    def _marked(self, name: bytes, head: bytes, line: _Line) -> marks.Marked:
        found = self._head_marks.get(name)
        if found is None:
            found = marks.of_head(head)
            self._head_marks.put(name, found)
        *others, last = [found.itself, *(message.mark for message in line.counted)]
        return marks.reach([*others, max(last, found.last)])

    def _counted(self, told: Told) -> Counted:
        raw = self._of(told.name, lambda: told.words) + MESSAGE_OVERHEAD
        mark = marks.of_message(told.content)
        if not told.changes:
            name = told.name
            return Counted(raw=name, forwarded=name, raw_tokens=raw, forwarded_tokens=raw, mark=mark)
        digest = blake2b(told.name, digest_size=16)
        saved = 0
        for change in told.changes:
            digest.update(change.forwarded.encode())
            saved += self.tokens(change.raw, change.before) - self.tokens(change.forwarded, change.after)
        return Counted(
            raw=told.name,
            forwarded=digest.digest(),
            raw_tokens=raw,
            forwarded_tokens=raw - saved,
            applied=tuple(applied for change in told.changes for applied in change.applied),
            novel=any(change.fresh for change in told.changes),
            mark=mark,
        )

    def _of(self, name: bytes, text: Callable[[], str]) -> int:
        known = self._counts.get(name)
        if known is None:
            known = self._counter.count(text())
            self._counts.put(name, known)
        return known

    def _rewrite(self, change: Change, fresh: Fresh) -> RewriteRecord:
        return RewriteRecord(
            key=fresh.key,
            tool=fresh.tool,
            command=fresh.command,
            before=change.before,
            after=change.after,
            rules=tuple(applied.rule for applied in change.applied),
            omissions=tuple(
                (name, "".join(change.before[start:end] for start, end in spans)) for name, spans in fresh.omissions
            ),
            tokens_before=self.tokens(change.raw, change.before),
            tokens_after=self.tokens(change.forwarded, change.after),
        )


def _reply(entry: Entry) -> Reply | None:
    if entry.reply is None or entry.record.shape is None:
        return None
    return _SHAPES[entry.record.shape].read_reply(entry.reply, entry.content_type, entry.content_encoding)


def _reply_message(reply: Reply | None, tip: str | None) -> Message | None:
    if reply is None or not reply.message or tip is None:
        return None
    content = canonical(reply.message)
    return Message(hash=message_hash(tip, content), parent=tip, role="assistant", content=content)
