"""What the gateway itself knows for the upper levels of memory: facts that its own exchanges prove, the rule pool's evidence.

exchange ─prove→ Proved* ─remember→ L2, L1
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from gateway.config import Upstream
from gateway.recording.accounts import read_reported
from gateway.recording.prices import PriceBook
from memory import Archive, ExchangeRow
from memory.errors import EntryRefused
from memory.levels import Evidence, Levels, Pointer
from memory.levels.procedures import LARGE
from rules_engine.evolution.pool import Entry, Pool, ranking

POOL_RECORD = "rule_pool"
"""The procedure that tells what the rules are trusted for."""

_LIMITS = (
    ("context", "tokens of context", re.compile(r"(?i)(?:maximum context length|context (?:window|length|limit))\D{0,40}?([\d,]{4,11})")),
    ("context", "tokens of context", re.compile(r"(?i)prompt is too long: [\d,]+ tokens > ([\d,]{4,11}) maximum")),
    ("output", "tokens of output", re.compile(r"(?i)at most ([\d,]{3,9}) (?:completion|output) tokens")),
    ("output", "tokens of output", re.compile(r"(?i)max_(?:completion_|output_)?tokens\b.{0,40}?(?:<=?|at most|maximum(?: of| is)?) ?([\d,]{3,9})")),
)  # fmt: skip
_RATE = re.compile(
    r"(?i)(?P<unit>tokens|requests) per (?P<time>min(?:ute)?|day|hour|second)\b.{0,60}?limit:? (?P<number>[\d,]+)"
)
_TIMES = {"min": "minute"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Proved:
    """A fact that one exchange proves."""

    section: str
    key: str
    """Under which a later exchange may prove it otherwise."""
    text: str


def prove(row: ExchangeRow, upstreams: Mapping[str, Upstream], prices: PriceBook) -> Iterator[Proved]:
    """The facts that an exchange proves."""
    if row.model is None or row.status is None:
        return
    if row.status >= 400:
        yield from _limits(row, row.model)
    elif row.outcome == "completed":
        yield from _served(row, row.model, upstreams)
        yield from _priced(row.model, prices)


async def remember(
    archive: Archive, levels: Levels, tenant: str, upstreams: Iterable[Upstream], prices: PriceBook
) -> tuple[str, ...]:
    """Write down what a tenant's exchanges prove and L2 does not say yet; what was refused, and why."""
    named = {upstream.name: upstream for upstream in upstreams}
    known = {(fact.section, fact.text) for fact in levels.facts()}
    told: set[tuple[str, str]] = set()
    refused = []
    for id_ in await archive.examples(tenant):
        row = await archive.exchange(id_)
        for fact in prove(row, named, prices) if row else ():
            if (fact.section, fact.key) in told:
                continue  # the latest exchange has the word
            told.add((fact.section, fact.key))
            if row is None or (fact.section, fact.text) in known:
                continue
            evidence = Evidence(pointer=await _pointer(archive, row), exchange=row.id)
            try:
                levels.put_fact(fact.section, fact.text, by="gateway", evidence=[evidence], key=fact.key)
            except EntryRefused as error:
                refused.append(f"{fact.section} {fact.key}: {error}")
    return tuple(refused)


def write_pool(levels: Levels, pool: Pool) -> None:
    """Have the evidence for the rules readable among the procedures."""
    text = pool_record(pool)
    if all(found.text != text for found in levels.procedures() if found.stem == POOL_RECORD):
        levels.put_procedure(POOL_RECORD, text, by="pool")


def pool_record(pool: Pool) -> str:
    """The rules that are in use or in trial, the best first, each with what speaks for it and against it."""
    live = ranking(pool)
    trial = sorted((e for e in pool.entries.values() if e.stage in ("shadow", "canary")), key=lambda entry: entry.ref)
    head = "---\ntrigger: why tool results are rewritten as they are\n---\n# The rules in use and in trial\n\n"
    foot = "\nAll of them: `taco-gateway rules list --all`; one of them: `taco-gateway rules show ID`.\n"
    lines, size = [], len((head + foot).encode())
    for line in map(_rule, [*live, *trial]):
        size += len(line.encode())
        if size > LARGE:
            break
        lines.append(line)
    return head + "".join(lines) + foot


def _rule(entry: Entry) -> str:
    facts = (
        f"{entry.stage}, confidence {entry.confidence:.2f}",
        f"applied {entry.counted} times in {entry.sessions} sessions",
        f"{entry.complaints} complaints",
        f"{entry.removed} characters saved",
    )
    about = " ".join(entry.rule.description.split())[:120]
    return (
        f"- {entry.rule.id}@{entry.rule.version} ({entry.rule.provenance}): {', '.join(facts)}. {about}".rstrip() + "\n"
    )


def _served(row: ExchangeRow, model: str, upstreams: Mapping[str, Upstream]) -> Iterator[Proved]:
    name = row.upstream
    upstream = upstreams.get(name)
    if upstream is not None:
        place = upstream.url or "the providers that litellm knows"
        yield Proved(section="UPSTREAMS", key=name, text=f"{name} answers at {place}")
    yield Proved(section="MODELS", key=f"{name}/{model}", text=f"{model} is served by {name}")
    if row.stream:
        yield Proved(section="MODELS", key=f"{name}/{model}/stream", text=f"{model} at {name} answers as a stream")
    if read_reported(row.reported).cached:
        text = f"{name} caches prompts of {model} and reports the cached tokens"
        yield Proved(section="CACHE", key=f"{name}/{model}", text=text)


def _priced(model: str, prices: PriceBook) -> Iterator[Proved]:
    price = prices.find(model)
    if price is None:
        return
    rates = price.at(0)
    input_, read, write, output = (_dollars(rate) for rate in (rates.input, rates.read, rates.write, rates.output))
    text = f"{model} is accounted as {price.model}: {input_} input, {read} cached, {write} written to the cache, {output} output, each for a million tokens"
    yield Proved(section="PRICES", key=model, text=text)


def _dollars(rate: float) -> str:
    return f"${rate * 1e6:.4f}".rstrip("0").rstrip(".")


def _limits(row: ExchangeRow, model: str) -> Iterator[Proved]:
    where = f"{model} at {row.upstream}"
    for name, unit, pattern in _LIMITS:
        if found := pattern.search(row.error or ""):
            text = f"{where} takes at most {_number(found[1])} {unit}"
            yield Proved(section="LIMITS", key=f"{row.upstream}/{model}/{name}", text=text)
    if row.status == 429 and (found := _RATE.search(row.error or "")):
        time = _TIMES.get(found["time"].lower(), found["time"].lower())
        unit = found["unit"].lower()
        text = f"{where} is limited to {_number(found['number'])} {unit} per {time}"
        yield Proved(section="LIMITS", key=f"{row.upstream}/{model}/{unit} per {time}", text=text)


def _number(text: str) -> str:
    return text.replace(",", "")


async def _pointer(archive: Archive, row: ExchangeRow) -> Pointer:
    """The answer of an exchange, or, where there was none, the message that was not answered."""
    size = await archive.depth(row.reply or row.tip or "")
    return Pointer(row.session, max(size - 1, 0))
