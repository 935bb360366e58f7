"""What a token costs, from the price map that comes with litellm, read without importing it."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock

import msgspec

from gateway.cache import BoundedCache

_MINIMUM = 1024
"""Tokens of the shortest prompt that is cached, where the map says nothing else."""
_BY_MARKS = "claude"
_LIFETIMES: Mapping[str, float] = {_BY_MARKS: 300.0, "deepseek": 7200.0}
_LIFETIME, _LIFETIME_PAID = 600.0, 1800.0
"""Seconds; automatic caches promise minutes, those that charge for writing half an hour."""
_MAKERS = ("openai", "anthropic", "gemini", "deepseek", "xai", "moonshot", "zai", "minimax", "mistral", "dashscope")
_DATE = re.compile(r"(?:-\d{4}-\d\d-\d\d|-\d{8}|@[\w-]+)$")
_TIER = re.compile(r"^input_cost_per_token_above_(\d+)k_tokens$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """Dollars per token."""

    input: float
    read: float
    """A token of the prompt that was in the provider's cache."""
    write: float
    """One that was not, where there is a cache to put it in."""
    write_hour: float
    """The same where it is to be kept for an hour."""
    output: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a model's tokens cost, and how its provider caches prompts."""

    model: str
    """As the price map calls it."""
    tiers: tuple[tuple[int, Rates], ...]
    """Rates for requests with more input tokens than the number before them; ascending, the first is 0."""
    minimum: int
    """A shorter prefix is not cached."""
    lifetime: float
    """Seconds after which an unused prefix is gone."""
    by_marks: bool = False
    """Its maker caches a prompt only up to where the request has a mark."""

    def at(self, tokens: int) -> Rates:
        """The rates for a request with so many input tokens."""
        return next(rates for above, rates in reversed(self.tiers) if tokens > above or not above)

    def free(self) -> Price:
        """The same where nothing is charged: the provider did not take the request."""
        return replace(self, tiers=((0, Rates(input=0.0, read=0.0, write=0.0, write_hour=0.0, output=0.0)),))


class Minimums:
    """How short a prompt providers cache, and nothing else of the map: what a gateway may know before it forwards."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._rows: dict[str, int] | None = None
        self._found: BoundedCache[str, int] = BoundedCache(1000)

    def find(self, model: str) -> int:
        """Tokens of the shortest prompt that is cached for a model."""
        known = self._found.get(model)
        if known is None:
            if self._rows is None:
                self._rows = _read_minimums(self._path or _find_map())
            known = next((self._rows[name] for name in spellings(model) if name in self._rows), _MINIMUM)
            self._found.put(model, known)
        return known


class PriceBook:
    """Prices by model name. The map is read once, when first asked; may be used from several threads."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._rows: dict[str, msgspec.Raw] | None = None
        self._minimums = Minimums(path)
        self._found: BoundedCache[str, tuple[Price | None]] = BoundedCache(1000)
        self._lock = Lock()

    def find(self, model: str) -> Price | None:
        """The price of a model; `None` where it is not known, never 0."""
        with self._lock:
            known = self._found.get(model)
            if known is None:
                known = (self._search(model),)
                self._found.put(model, known)
            return known[0]

    def _search(self, model: str) -> Price | None:
        if self._rows is None:
            self._rows = _read(self._path or _find_map())
        for name in spellings(model):
            row = self._rows.get(name)
            price = _price(name, msgspec.json.decode(row), self._minimums.find(model)) if row is not None else None
            if price is not None:
                return price
        return None


def spellings(model: str) -> Iterator[str]:
    """Names under which the map may list a model, the most exact first."""
    if model.endswith(":free"):
        return
    parts = model.split("/")
    names = ["/".join(parts[k:]) for k in range(len(parts))]
    for name in [*names, *map(_undated, names)]:
        yield name
        yield re.sub(r"(?<=\d)\.(?=\d)", "-", name)
    for maker in _MAKERS:
        yield f"{maker}/{parts[-1]}"
        yield f"{maker}/{_undated(parts[-1])}"


def _undated(name: str) -> str:
    return _DATE.sub("", name)


def _find_map() -> Path | None:
    litellm = importlib.util.find_spec("litellm")
    if litellm is None or litellm.origin is None:
        return None
    return Path(litellm.origin).parent / "model_prices_and_context_window_backup.json"


def _read(path: Path | None) -> dict[str, msgspec.Raw]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, msgspec.Raw]) if path else {}
    except (OSError, msgspec.DecodeError):
        return {}


def _read_minimums(path: Path | None) -> dict[str, int]:
    try:
        rows = msgspec.json.decode(path.read_bytes(), type=dict[str, _Cached]) if path else {}
    except (OSError, msgspec.DecodeError):
        return {}
    return {name: round(row.prompt_cache_min_tokens) for name, row in rows.items() if row.prompt_cache_min_tokens}


class _Cached(msgspec.Struct):
    prompt_cache_min_tokens: float | None = None


def _price(name: str, row: Mapping[str, object], minimum: int) -> Price | None:
    tiers = _tiers(row)
    if not any(rates.input for _, rates in tiers):
        return None  # listed without a price: a free model is not told from an unknown one
    first = tiers[0][1]
    usual = _LIFETIME_PAID if first.write > first.input else _LIFETIME
    return Price(
        model=name,
        tiers=tiers,
        minimum=minimum,
        lifetime=next((seconds for maker, seconds in _LIFETIMES.items() if maker in name), usual),
        by_marks=_BY_MARKS in name,
    )


def _tiers(row: Mapping[str, object]) -> tuple[tuple[int, Rates], ...]:
    ranges = row.get("tiered_pricing")
    if isinstance(ranges, list):
        found = [(int(tier["range"][0]), _rates(tier, "")) for tier in ranges if "range" in tier]
    else:
        above = sorted(int(match[1]) for key in row if (match := _TIER.match(key)))
        found = [(0, _rates(row, "")), *((k * 1000, _rates(row, f"_above_{k}k_tokens")) for k in above)]
    return tuple((above, rates) for above, rates in found if rates is not None)


def _rates(row: Mapping[str, object], suffix: str) -> Rates | None:
    def cost(name: str) -> float | None:
        value = row.get(f"{name}{suffix}")
        return float(value) if isinstance(value, int | float) else None

    input_, output = cost("input_cost_per_token"), cost("output_cost_per_token")
    if input_ is None or output is None:
        return None
    read = cost("cache_read_input_token_cost")
    # the map says 0, or the price of reading, where writing costs no more than any other input
    write = max(input_, cost("cache_creation_input_token_cost") or 0)
    hour = max(write, cost("cache_creation_input_token_cost_above_1hr") or 0)
    return Rates(input=input_, read=input_ if read is None else read, write=write, write_hour=hour, output=output)
