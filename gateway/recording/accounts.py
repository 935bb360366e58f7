"""What one request cost and saved: tokens as sent and as forwarded, and money in both worlds with the cache simulated.

    Counted* + Price + Reported ─settle→ Accounts

Nothing here reads a clock or counts a token; both are handed in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from threading import Lock
from typing import Literal

from gateway.cache import BoundedCache
from gateway.recording.marks import HOUR, Marked
from gateway.recording.prices import Price
from rules_engine.types import Applied

World = Literal["raw", "forwarded"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """One message, as the agent sent it and as it was forwarded. Whatever stands before the messages counts as one."""

    raw: bytes
    """Digest of what was sent."""
    forwarded: bytes
    """Digest of what was forwarded."""
    raw_tokens: int
    forwarded_tokens: int
    applied: tuple[Applied, ...] = ()
    """What made the difference."""
    novel: bool = False
    """Its rewrite was decided now; else its saving repeats an earlier one."""
    mark: int = 0
    """Seconds for which its cache marks ask."""
    shares: tuple[tuple[str, str, int], ...] = field(init=False)
    """(class, rule, tokens saved): shared out once, since a message comes again with every later request."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "shares", tuple(_shares(self)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """Usage as the provider states it; `None` where it does not."""

    input: int | None = None
    """All tokens of the prompt, cached ones among them."""
    cached: int | None = None
    cache_write: int | None = None
    cache_write_hour: int | None = None
    """Those of them that are kept for an hour, which is dearer."""
    output: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounts:
    """The figures of one request. Tokens are counted but for `reported`; dollars are `None` where no price is known."""

    approximate: bool
    """No vocabulary could be had: tokens are a quarter of the bytes."""
    raw_tokens: int
    forwarded_tokens: int
    output_tokens: int
    novel_saved: int
    repeat_saved: int
    saved_by_class: Mapping[str, int] = field(default_factory=dict)
    saved_by_rule: Mapping[str, int] = field(default_factory=dict)
    cached_raw: int | None
    cached_forwarded: int | None
    """Tokens of the prompt that the simulated provider found in its cache, in either world."""
    price: str | None
    """The name under which the price was found."""
    cost_raw: float | None
    cost_forwarded: float | None
    """Dollars for the prompt, in either world."""
    cost_output: float | None
    """Dollars for the answer, the same in both; of the reported tokens where they were reported."""
    cost_reported: float | None
    """Dollars for prompt and answer by what the provider reported."""
    reported: Reported

    def as_dict(self) -> dict[str, object]:
        """Plain data, as it is archived."""
        plain: dict[str, object] = {name: getattr(self, name) for name in self.__slots__}
        reported = self.reported
        return plain | {"reported": {name: getattr(reported, name) for name in reported.__slots__}}


@dataclass(frozen=True, slots=True)
class _Prefix:
    names: tuple[bytes, ...]
    used: float
    hour: int
    """So many of them are kept for an hour."""

    def standing(self, now: float, lifetime: float) -> tuple[bytes, ...]:
        """What is still in the cache."""
        age = now - self.used
        if age <= lifetime:
            return self.names
        return self.names[: self.hour] if age <= HOUR else ()


class CacheSimulator:
    """Remembers for each session and world the prompt sent last: what a provider's prefix cache would still hold.

    The sessions used last are remembered, up to a number of messages. May be used from several threads.
    """

    def __init__(self, messages: int = 200_000) -> None:
        self._prefixes: BoundedCache[tuple[str, str, World], _Prefix] = BoundedCache(messages)
        self._lock = Lock()

    def look(
        self,
        session: str,
        counted: Sequence[Counted],
        price: Price,
        now: float,
        parent: str | None = None,
        marked: Marked | None = None,
    ) -> tuple[int, int]:
        """Tokens in the cache of the raw and of the forwarded prompt, which then are. A new session starts with its parent's.

        A prompt is kept whole where `marked` does not say how far.
        """
        kept = counted if marked is None else counted[: marked.all]
        hour = 0 if marked is None else marked.hour
        if not kept:
            return 0, 0  # what was kept before stands
        with self._lock:
            return (
                self._look(session, "raw", kept, hour, price, now, parent),
                self._look(session, "forwarded", kept, hour, price, now, parent),
            )

    def knows(self, session: str, price: Price) -> bool:
        """Whether anything of a session was looked at."""
        with self._lock:
            return self._prefixes.has((session, price.model, "raw"))

    def _look(
        self,
        session: str,
        world: World,
        kept: Sequence[Counted],
        hour: int,
        price: Price,
        now: float,
        parent: str | None,
    ) -> int:
        names = tuple((message.raw if world == "raw" else message.forwarded)[:8] for message in kept)
        key = session, price.model, world
        last = self._prefixes.get(key)
        if last is None and parent is not None:
            last = self._prefixes.get((parent, price.model, world))
        self._prefixes.put(key, _Prefix(names, now, hour), len(names) + 1)
        if last is None:
            return 0
        shared = takewhile(
            lambda pair: pair[0] == pair[1], zip(names, last.standing(now, price.lifetime), strict=False)
        )
        tokens = sum(_tokens(message, world) for message, _ in zip(kept, shared, strict=False))
        return tokens if tokens >= price.minimum else 0


def settle(
    counted: Sequence[Counted],
    output_tokens: int,
    reported: Reported,
    price: Price | None,
    cached: tuple[int, int] | None,
    *,
    marked: Marked | None = None,
    approximate: bool = False,
) -> Accounts:
    """The accounts of a request; `cached` is what the simulator says of the raw and of the forwarded prompt."""

    def prompt(world: World, cached: int, price: Price) -> float:
        sizes = [_tokens(message, world) for message in counted]
        if marked is None:
            return prompt_cost(price, sum(sizes), cached)
        return prompt_cost(price, sum(sizes), cached, sum(sizes[: marked.all]), sum(sizes[: marked.hour]))

    raw = sum(message.raw_tokens for message in counted)
    forwarded = sum(message.forwarded_tokens for message in counted)
    by_class, by_rule = attribute(counted)
    novel = sum(message.raw_tokens - message.forwarded_tokens for message in counted if message.novel)
    output = output_tokens if reported.output is None else reported.output
    return Accounts(
        approximate=approximate,
        raw_tokens=raw,
        forwarded_tokens=forwarded,
        output_tokens=output_tokens,
        novel_saved=novel,
        repeat_saved=raw - forwarded - novel,
        saved_by_class=by_class,
        saved_by_rule=by_rule,
        cached_raw=cached[0] if cached else None,
        cached_forwarded=cached[1] if cached else None,
        price=price.model if price else None,
        cost_raw=prompt("raw", cached[0], price) if price and cached else None,
        cost_forwarded=prompt("forwarded", cached[1], price) if price and cached else None,
        cost_output=price.at(forwarded).output * output if price else None,
        cost_reported=_reported_cost(price, reported) if price else None,
        reported=reported,
    )


def prompt_cost(price: Price, tokens: int, cached: int, kept: int | None = None, hour: int = 0) -> float:
    """Dollars for a prompt of which `cached` tokens are read from the cache, and the others written to it.

    `kept` and `hour` say how many leading tokens are in the cache then, and how many of them for an hour.
    """
    rates, kept = price.at(tokens), tokens if kept is None else kept
    written = kept - cached if kept >= price.minimum else 0
    long = min(max(hour - cached, 0), written)
    return (
        rates.read * cached
        + rates.write_hour * long
        + rates.write * (written - long)
        + rates.input * (tokens - cached - written)
    )


def attribute(counted: Sequence[Counted]) -> tuple[dict[str, int], dict[str, int]]:
    """Tokens saved by class and by rule: each message's saving is shared out by the characters that each removed."""
    by_class: Counter[str] = Counter()
    by_rule: Counter[str] = Counter()
    for message in counted:
        for loss, rule, share in message.shares:
            by_class[loss] += share
            by_rule[rule] += share
    return dict(by_class), dict(by_rule)


def _shares(message: Counted) -> Iterator[tuple[str, str, int]]:
    left, weight = message.raw_tokens - message.forwarded_tokens, sum(a.removed for a in message.applied)
    for applied in message.applied:
        share = round(left * applied.removed / weight) if weight else left
        yield applied.loss, applied.rule[0], share
        left, weight = left - share, weight - applied.removed


def read_reported(usage: Mapping[str, object] | None) -> Reported:
    """A usage object of any form, in the dialects of those who serve it."""
    usage = usage or {}
    details = usage.get("prompt_tokens_details") or usage.get("input_tokens_details")
    details = details if isinstance(details, Mapping) else {}
    # Messages count beside their input what was read from the cache and written to it; Responses count it in
    beside = _number(usage.get("cache_read_input_tokens")), _number(usage.get("cache_creation_input_tokens"))
    lasting = usage.get("cache_creation")
    lasting = lasting if isinstance(lasting, Mapping) else {}
    plain = _number(usage.get("input_tokens"))
    return Reported(
        input=_first(usage.get("prompt_tokens"), None if plain is None else plain + sum(filter(None, beside))),
        cached=_first(
            details.get("cached_tokens"), usage.get("prompt_cache_hit_tokens"), usage.get("cached_tokens"), beside[0]
        ),
        cache_write=_first(details.get("cache_write_tokens"), details.get("cache_creation_tokens"), beside[1]),
        cache_write_hour=_number(lasting.get("ephemeral_1h_input_tokens")),
        output=_first(usage.get("completion_tokens"), usage.get("output_tokens")),
    )


def _first(*values: object) -> int | None:
    return next((number for value in values if (number := _number(value)) is not None), None)


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _tokens(message: Counted, world: World) -> int:
    return message.raw_tokens if world == "raw" else message.forwarded_tokens


def _reported_cost(price: Price, reported: Reported) -> float | None:
    if reported.input is None or reported.output is None:
        return None
    rates = price.at(reported.input)
    read, written = reported.cached or 0, reported.cache_write or 0
    hour = min(reported.cache_write_hour or 0, written)
    plain = reported.input - read - written
    prompt = rates.read * read + rates.write_hour * hour + rates.write * (written - hour) + rates.input * plain
    return prompt + rates.output * reported.output
