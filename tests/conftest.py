"""What every test finds: no log of another test's making, no key of the person who runs them, and no hurry."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import nullcontext

import pytest
import structlog
from hypothesis import settings

from gateway import app, logs
from gateway.recording.prices import PriceBook
from gateway.recording.tokens import TokenCounter

# How long something takes is for the benches to say: a busy machine proves nothing wrong.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture(autouse=True)
def log() -> Iterator[io.StringIO]:
    """What the gateway logs during the test."""
    written = io.StringIO()
    logs.configure(stream=written)
    yield written
    structlog.reset_defaults()


@pytest.fixture(autouse=True, scope="session")
def _loaded_once() -> Iterator[None]:
    """Vocabulary and prices are real, and shared: each gateway would load them anew."""
    tokens, prices = TokenCounter(), PriceBook()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app, "TokenCounter", lambda **_: tokens)
        patch.setattr(app, "PriceBook", lambda: prices)
        yield


@pytest.fixture(autouse=True)
def _books_kept_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the gateway's own process: to start one for each gateway would take half a second."""
    monkeypatch.setattr(app, "keeping", lambda data, reserve: nullcontext(reserve))


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "TACO_ADMIN_KEY"):
        monkeypatch.delenv(name, raising=False)
