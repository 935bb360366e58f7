"""Prices: found under the names that clients use, unknown ones never taken for free."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from gateway.recording.prices import Minimums, Price, PriceBook, Rates, spellings

PLAIN = {"input_cost_per_token": 2e-6, "output_cost_per_token": 8e-6}
ROWS: dict[str, Any] = {
    "gpt-x": PLAIN | {"cache_read_input_token_cost": 5e-7},
    "gpt-x-mini": PLAIN,
    "claude-y-4-5": PLAIN
    | {"cache_creation_input_token_cost": 2.5e-6, "cache_read_input_token_cost": 2e-7, "prompt_cache_min_tokens": 4096},
    "claude-hour": PLAIN
    | {
        "cache_creation_input_token_cost": 2.5e-6,
        "cache_creation_input_token_cost_above_1hr": 4e-6,
        "input_cost_per_token_above_200k_tokens": 4e-6,
        "output_cost_per_token_above_200k_tokens": 1.2e-5,
        "cache_creation_input_token_cost_above_1hr_above_200k_tokens": 8e-6,
    },
    "router/claude-y-4.5": PLAIN,
    "vast": PLAIN | {"prompt_cache_min_tokens": 6144.0},
    "deepseek/d": PLAIN | {"cache_creation_input_token_cost": 0.0},
    "paid": PLAIN | {"cache_creation_input_token_cost": 2.5e-6},
    "moonshot/k": PLAIN,
    "zero": {"input_cost_per_token": 0, "output_cost_per_token": 0.0},
    "pictures": {"output_cost_per_image": 0.04},
    "half": {"input_cost_per_token": 1e-6},
    "text": {"input_cost_per_token": "2", "output_cost_per_token": "8"},
    "long": PLAIN
    | {
        "cache_read_input_token_cost": 2e-7,
        "input_cost_per_token_above_200k_tokens": 4e-6,
        "output_cost_per_token_above_200k_tokens": 1.2e-5,
        "cache_read_input_token_cost_above_200k_tokens": 4e-7,
        "cache_creation_input_token_cost_above_200k_tokens": 4e-7,
        "input_cost_per_token_above_200k_tokens_priority": 9.0,
    },
    "tiered": {
        "tiered_pricing": [
            PLAIN | {"range": [0, 32000.0]},
            {"input_cost_per_token": 4e-6, "output_cost_per_token": 1.6e-5, "range": [32000.0, 128000.0]},
        ]
    },
}


@pytest.fixture
def book(tmp_path: Path) -> PriceBook:
    """A book over a small map."""
    path = tmp_path / "map.json"
    path.write_text(json.dumps(ROWS))
    return PriceBook(path)


@pytest.mark.parametrize(
    "model",
    [
        pytest.param("", id="no name"),
        pytest.param("gpt-z", id="an unlisted model"),
        pytest.param("a/b/gpt-z", id="an unlisted model behind prefixes"),
        pytest.param("gpt", id="the beginning of a listed name"),
        pytest.param("openrouter/gpt-x:free", id="a free variant"),
        pytest.param("zero", id="listed at no price"),
        pytest.param("pictures", id="priced by picture"),
        pytest.param("half", id="without a price for answers"),
        pytest.param("text", id="prices that are no numbers"),
    ],
)
def test_unknown(book: PriceBook, model: str) -> None:
    """What is not known is `None`, not 0."""
    assert book.find(model) is None


@pytest.mark.parametrize(
    ("model", "listed"),
    [
        pytest.param("gpt-x", "gpt-x", id="as listed"),
        pytest.param("openai/gpt-x", "gpt-x", id="behind a provider"),
        pytest.param("router/openai/gpt-x", "gpt-x", id="behind two"),
        pytest.param("gpt-x-2026-05-01", "gpt-x", id="with a date"),
        pytest.param("openai/gpt-x-mini-20260501", "gpt-x-mini", id="with a short date behind a provider"),
        pytest.param("claude-y-4-5@20250929", "claude-y-4-5", id="with a version after an at sign"),
        pytest.param("router/maker/claude-y-4.5", "claude-y-4-5", id="with dots for dashes"),
        pytest.param("k", "moonshot/k", id="listed behind its maker"),
        pytest.param("host/k-20260501", "moonshot/k", id="served by another than its maker"),
    ],
)
def test_names(book: PriceBook, model: str, listed: str) -> None:
    """A model is found under the names that routers and clients give it."""
    price = book.find(model)
    assert price is not None
    assert price.model == listed
    assert book.find(model) is price


@pytest.mark.parametrize(
    ("model", "read", "write", "minimum", "lifetime"),
    [
        pytest.param("gpt-x-mini", 2e-6, 2e-6, 1024, 600, id="no cache prices"),
        pytest.param("gpt-x", 5e-7, 2e-6, 1024, 600, id="reading is cheaper"),
        pytest.param("deepseek/d", 2e-6, 2e-6, 1024, 7200, id="a write price of 0 is that of any input"),
        pytest.param("paid", 2e-6, 2.5e-6, 1024, 1800, id="writing costs more"),
        pytest.param("claude-y-4-5", 2e-7, 2.5e-6, 4096, 300, id="with a minimum of its own"),
    ],
)
def test_cache_prices(book: PriceBook, model: str, read: float, write: float, minimum: int, lifetime: float) -> None:
    """What is not listed costs what other input does."""
    price = book.find(model)
    rates = Rates(input=2e-6, read=read, write=write, write_hour=write, output=8e-6)
    marks = model.startswith("claude")
    assert price == Price(model=model, tiers=((0, rates),), minimum=minimum, lifetime=lifetime, by_marks=marks)


def test_an_hour_has_a_price_of_its_own(book: PriceBook) -> None:
    """In long requests, too."""
    price = book.find("claude-hour")
    assert price is not None
    assert [price.at(tokens).write_hour for tokens in (9, 200_001)] == [4e-6, 8e-6]
    assert price.at(9).write == 2.5e-6


@pytest.mark.parametrize(
    ("model", "tokens", "cost"),
    [
        ("long", 0, 2e-6),
        ("long", 200_000, 2e-6),
        ("long", 200_001, 4e-6),
        ("tiered", 32_000, 2e-6),
        ("tiered", 32_001, 4e-6),
        ("tiered", 999_999, 4e-6),
    ],
)
def test_long_requests(book: PriceBook, model: str, tokens: int, cost: float) -> None:
    """A request over the limit is dearer as a whole."""
    price = book.find(model)
    assert price is not None
    assert price.at(tokens).input == cost
    assert price.at(tokens).write >= cost


@pytest.mark.parametrize(
    ("model", "minimum"),
    [
        pytest.param("", 1024, id="no name"),
        pytest.param("gpt-z", 1024, id="an unlisted model"),
        pytest.param("gpt-x", 1024, id="a listed one without a minimum"),
        pytest.param("claude-y-4-5@20250929", 4096, id="one with a version"),
        pytest.param("router/claude-y-4.5", 4096, id="one that a router lists without"),
        pytest.param("vast", 6144, id="a minimum that is written as a fraction"),
    ],
)
def test_minimums(book: PriceBook, tmp_path: Path, model: str, minimum: int) -> None:
    """Whoever serves a model, its cache has the same minimum; the accounts and the rewriter go by the same."""
    assert Minimums(tmp_path / "map.json").find(model) == minimum
    price = book.find(model)
    assert price is None or price.minimum == minimum


@pytest.mark.parametrize("content", [None, b"", b"[]", b'{"a": ', b'{"gpt-x": {"prompt_cache_min_tokens": "many"}}'])
def test_a_map_that_does_not_read(tmp_path: Path, content: bytes | None) -> None:
    """Without a map nothing has a price, the usual minimum holds, and nothing fails."""
    path = tmp_path / "map.json"
    if content is not None:
        path.write_bytes(content)
    assert PriceBook(path).find("gpt-x") is None
    assert Minimums(path).find("gpt-x") == 1024


def test_the_installed_map() -> None:
    """The map that comes with litellm is found without importing it, and read alike by many threads."""
    before = "litellm" in sys.modules
    book = PriceBook()
    with ThreadPoolExecutor(4) as threads:
        prices = list(threads.map(book.find, ["gpt-5", "anthropic/claude-sonnet-4.5"] * 20))
    assert ("litellm" in sys.modules) == before
    assert len(set(prices)) == 2
    assert all(price and price.at(0).read < price.at(0).input < price.at(0).output for price in prices)


def test_without_litellm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where litellm is not installed nothing has a price."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert PriceBook().find("gpt-5") is None
    assert Minimums().find("claude-opus-4-5") == 1024


def test_spellings_start_with_the_name() -> None:
    """The most exact name is tried first."""
    assert next(spellings("azure/gpt-x")) == "azure/gpt-x"
