"""From a request to the bytes that are forwarded: find what is pinned, decide what is new, pin it, splice.

A pinned decision is replayed whatever else fails; failing open is for first sight only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from sys import getsizeof

from gateway import framings, heavy
from gateway.cache import BoundedCache
from gateway.identity import Observer, Seen, declares_shell, last_assistant, text_in
from gateway.passes import FirstSight, Forms, Pass, Shown
from gateway.pins import Commit, Pinned, Pins, Recalled
from gateway.sent import Sending, Sent, forwarded
from gateway.spans import encode_string, replace
from gateway.types import Conversation
from memory import StoreError
from rules_engine import RuleSet, Signal, requested

RECALLED_BYTES = 4 << 20

CHARS_A_TOKEN = 5
"""More than a token holds of any prompt that was measured (4.93): so many characters are surely that many tokens."""

CachedFrom = Callable[[str], int]
"""Model → tokens of the shortest prompt that its provider caches."""

OmittedText = Callable[[str, str], Awaitable[str | None]]
"""(tenant, recall id) → the omitted text, from the redacted store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """What is forwarded, and what was decided on the way."""

    body: bytes
    seen: tuple[Seen, ...] = ()
    """The framed texts of the request."""
    shown: tuple[Shown, ...] = ()
    """Every observation of them."""
    digests: Mapping[int, bytes] = field(default_factory=dict)
    """Message index → digest of its texts as forwarded, for messages that are not forwarded as they came."""
    fresh: frozenset[str] = frozenset()
    """Keys that this request decided to rewrite."""
    kept: Mapping[str, int] = field(default_factory=dict)
    signals: tuple[Signal, ...] = ()
    committed: Commit | None = None
    """Waits until what was decided is safe."""


class Rewriter:
    """Rewrites the observations of requests, each decided once."""

    def __init__(self, pins: Pins, omitted: OmittedText, cached_from: CachedFrom) -> None:
        self._pins = pins
        self._omitted = omitted
        self._cached_from = cached_from
        self._observer = Observer()
        self._forms = Forms()
        self._recalled: BoundedCache[tuple[str, str], str] = BoundedCache(RECALLED_BYTES)
        self._sending = Sending()

    async def rewrite(
        self,
        body: bytes,
        conversation: Conversation,
        *,
        tenant: str,
        chain: tuple[bytes, ...],
        known: int,
        allowed: Callable[[str], bool],
        ruleset: Callable[[], RuleSet],
    ) -> Outgoing:
        """The body to forward. `known` messages were forwarded before; `allowed` says which tools' results may change.

        `ruleset` gives the rules, and is asked only where there is something to decide.
        """
        seen = await heavy.run(len(body) > heavy.BODY, self._observer.observe, conversation, tenant, chain)
        kept = Counter({"unreadable": sum(placed.message.broken is not None for placed in conversation.messages)})
        kept["failed"] += sum(one.failed for one in seen)
        if not seen:
            return Outgoing(body=body, kept=+kept)
        pinned = await self._find(seen, kept)
        sent = self._sending.find(conversation, chain, known, pinned)
        rest = seen[sent.seen :]
        start = max(known, last_assistant(conversation) + 1, len(conversation.past))
        new = self._new(rest, pinned, start, kept)
        stored = await self._stored(seen, pinned, new, tenant)
        done = self._pass(sent, pinned, stored)
        text = sum(len(i.observation.text) for one in rest for i in one.items if i.observation.key in new)
        sight = self._sight(body, conversation, seen, allowed, ruleset()) if new else None
        await heavy.run(text > heavy.NEW_TEXT, done.run, rest, new, sight)
        kept += done.kept
        committed = None
        if done.wanted:
            won, committed = await self._choose(done.wanted, kept)
            if won != {p.key: p for p in done.wanted}:
                again = self._pass(sent, pinned | won, stored)
                again.signals, done = done.signals, again.run(rest, frozenset(), None)
        out, digests = self._splice(body, conversation, rest, done, sent)
        sent = forwarded(conversation, len(seen), done, digests, out, len(body))
        self._sending.keep(conversation, chain, known, sent)
        return Outgoing(
            body=out,
            seen=tuple(seen),
            shown=tuple(done.shown.values()),
            digests=digests,
            fresh=frozenset(new & done.pinned.keys()),
            kept=+kept,
            signals=tuple(done.signals),
            committed=committed,
        )

    def _pass(self, sent: Sent, pinned: Mapping[str, Pinned], stored: Mapping[str, str]) -> Pass:
        """A pass over what comes after `sent`."""
        return Pass(
            forms=self._forms,
            pinned=dict(pinned),
            stored=stored,
            shown=dict(sent.shown),
            kept=Counter(mismatch=sent.mismatches),
            weight=sent.weight,
        )

    async def _find(self, seen: list[Seen], kept: Counter[str]) -> dict[str, Pinned]:
        keys = [item.observation.key for one in seen for item in one.items]
        try:
            return await self._pins.find(keys)
        except StoreError:
            kept["unread"] += 1
            return self._pins.remembered(keys)

    def _new(self, seen: list[Seen], pinned: Mapping[str, Pinned], start: int, kept: Counter[str]) -> frozenset[str]:
        """Keys to decide about. While the store fails there are none: nothing could be pinned."""
        keys = (item.observation.key for one in seen if one.at >= start for item in one.items)
        new = frozenset(key for key in keys if key not in pinned)
        if new and self._pins.is_down:
            kept["store"] += len(new)
            return frozenset()
        return new

    async def _stored(
        self, seen: list[Seen], pinned: Mapping[str, Pinned], new: frozenset[str], tenant: str
    ) -> dict[str, str]:
        """What the store keeps for recalls whose source is not in the request."""
        here = {"", *(item.observation.key for one in seen for item in one.items)}
        known = {o.id for p in pinned.values() if not isinstance(p, Recalled) for f in p.forms for o in f.omissions}
        wanted = [a.id for p in pinned.values() if isinstance(p, Recalled) for a in p.answers if a.source not in here]
        for one in seen:
            for item in one.items:
                if item.observation.key in new:
                    wanted += [name for name in requested(item.observation.command) if name not in known]
        found = {name: await self._recall(tenant, name) for name in dict.fromkeys(wanted)}
        return {name: text for name, text in found.items() if text is not None}

    async def _recall(self, tenant: str, name: str) -> str | None:
        """An omitted text: what was given once is given again, whether the store still can or not."""
        text = self._recalled.get((tenant, name))
        if text is None:
            try:
                text = await self._omitted(tenant, name)
            except StoreError:
                return None
            if text is not None:
                self._recalled.put((tenant, name), text, getsizeof(text) + 300)
        return text

    async def _choose(self, wanted: list[Pinned], kept: Counter[str]) -> tuple[dict[str, Pinned], Commit | None]:
        try:
            return await self._pins.choose(wanted)
        except StoreError:
            kept["store"] += len(wanted)
            return {}, None

    def _sight(
        self,
        body: bytes,
        conversation: Conversation,
        seen: list[Seen],
        allowed: Callable[[str], bool],
        ruleset: RuleSet,
    ) -> FirstSight:
        start, end = conversation.head
        head = (len(body) - (end - start)) // 2  # providers write the declarations of tools shorter than JSON
        return FirstSight(
            ruleset=ruleset,
            shell=declares_shell(conversation, seen),
            whole=conversation.whole,
            chars=head + sum(len(placed.message.words) for placed in conversation.messages),
            cached_from=self._cached_from(conversation.model) * CHARS_A_TOKEN,
            allowed=allowed,
        )

    def _splice(
        self, body: bytes, conversation: Conversation, rest: list[Seen], done: Pass, sent: Sent
    ) -> tuple[bytes, dict[int, bytes]]:
        """The body to forward, and the digests of the messages that are not forwarded as they came."""
        new = []
        digests = dict(sent.digests)
        for one in rest:
            shown = [done.shown[item.observation.key] for item in one.items]
            rewritten = [s.digest.encode() for s in shown if s.is_rewritten]
            if rewritten:
                digests[one.at] = digests.get(one.at, b"") + b"".join(rewritten)
                if one.at < len(conversation.past):
                    continue  # it was forwarded so when it was sent
                placed = conversation.messages[one.at]
                text = text_in(placed.message, one)
                data = encode_string(framings.put(one.text.value, one.frame, [s.text for s in shown]))
                new.append((placed.start + text.start, placed.start + text.end, data))
        if not new and not (sent.body and digests):
            return body, digests  # itself: a body that came packed goes on as it came
        new.sort()  # the texts of a message have an order of their own
        return b"".join((sent.body, replace(body, new, sent.end))), digests
