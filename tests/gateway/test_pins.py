"""Pinned decisions: memory first, the store behind it, one choice between rivals."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st

from gateway import pins as module
from gateway.pins import Answer, Pins, Recalled, decode, encode
from memory import Decisions, StoreError
from rules_engine import Form, Rewritten, text_digest


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        """The time."""
        return self.now


def rewritten(key: str, text: str = "short") -> Rewritten:
    """A decision to forward a literal text."""
    form = Form(script=(text,), digest=text_digest(text), applied=())
    return Rewritten(key=key, raw_digest=text_digest("raw"), forms=(form,))


answers = st.builds(
    lambda name, source, spans: Answer(id=name, source=source, spans=tuple(spans)),
    st.text("0123456789abcdef", min_size=6, max_size=12),
    st.none() | st.text(max_size=8),
    st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), max_size=3),
)


@given(st.lists(answers, max_size=3))
def test_a_recall_is_read_back_as_it_was_stored(given_: list[Answer]) -> None:
    """It holds no text."""
    recalled = Recalled(key="k", raw_digest="d", answers=tuple(given_))
    assert decode("k", encode(recalled)) == recalled


def test_a_rewrite_is_read_back_as_it_was_stored() -> None:
    """Both kinds of decision live in one table."""
    assert decode("k", encode(rewritten("k"))) == rewritten("k")


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[Decisions]:
    """A store of decisions."""
    decisions = await Decisions.open(tmp_path / "decisions.sqlite")
    yield decisions
    await decisions.aclose()


@pytest.fixture
def clock() -> Clock:
    """The clock of the pins."""
    return Clock()


@pytest.fixture
def pins(store: Decisions, clock: Clock) -> Pins:
    """Pins over the store."""
    return Pins(store, clock, 0.2)


async def test_nothing_is_pinned_at_first(pins: Pins) -> None:
    """And nobody minds."""
    assert await pins.find([]) == {}
    assert await pins.find(["a", "b"]) == {}
    assert pins.remembered(["a"]) == {}


async def test_what_is_chosen_is_found(pins: Pins, store: Decisions, clock: Clock) -> None:
    """Here, and by others once it is safe."""
    won, committed = await pins.choose([rewritten("a"), Recalled(key="b", raw_digest="d", answers=())])

    assert won == {"a": rewritten("a"), "b": Recalled(key="b", raw_digest="d", answers=())}
    assert await committed()
    assert await Pins(store, clock, 0.2).find(["a", "b", "c"]) == won


async def test_who_comes_second_gets_the_first_choice(pins: Pins, store: Decisions, clock: Clock) -> None:
    """Also one who had looked before and found nothing."""
    other = Pins(store, clock, 0.2)
    assert await other.find(["a"]) == {}
    await pins.choose([rewritten("a", "first")])
    won, _ = await other.choose([rewritten("a", "second"), rewritten("b")])

    assert won == {"a": rewritten("a", "first"), "b": rewritten("b")}
    assert other.remembered(["a"]) == {"a": rewritten("a", "first")}


async def test_memory_answers_without_the_store(pins: Pins, store: Decisions, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is known, and what is known not to be."""
    await pins.choose([rewritten("a")])
    await pins.find(["none"])
    monkeypatch.setattr(store, "find", None)

    assert await pins.find(["a", "none"]) == {"a": rewritten("a")}


async def test_a_store_that_fails_is_left_alone_for_a_while(
    pins: Pins, store: Decisions, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And counted; then it is asked again."""

    async def fail(*_: object) -> None:
        raise StoreError("no")

    monkeypatch.setattr(store, "choose", fail)
    with pytest.raises(StoreError, match="no"):
        await pins.choose([rewritten("a")])

    assert (pins.is_down, pins.failures) == (True, 1)
    clock.now += module.RETRY_SECONDS
    assert not pins.is_down


async def test_a_store_that_does_not_answer_is_not_waited_for(
    store: Decisions, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Longer than twice the deadline."""

    async def hang(*_: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(store, "find", hang)
    with pytest.raises(StoreError, match="in time"):
        await Pins(store, clock, 0.01).find(["a"])


async def test_a_commit_that_fails_is_made_up_for(
    pins: Pins, store: Decisions, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was forwarded is replayed from memory, and written with the next choice."""

    async def fail(_: object) -> None:
        raise StoreError("full")

    with monkeypatch.context() as patch:
        patch.setattr("memory.decisions.Choice.committed", fail)
        _, committed = await pins.choose([rewritten("a")])
        assert not await committed()
    assert pins.is_down
    with closing(sqlite3.connect(store._path)) as raw, raw:
        raw.execute("DELETE FROM decisions")
    _, committed = await pins.choose([rewritten("b")])

    assert await committed()
    assert await Pins(store, clock, 0.2).find(["a", "b"]) == {"a": rewritten("a"), "b": rewritten("b")}


@pytest.mark.parametrize("data", [b"", b"R1{", b"R1[]", b"R1{}", b"R9 newer", b"\xff\x00"])
async def test_a_row_that_cannot_be_read_means_raw_text(data: bytes, pins: Pins, store: Decisions) -> None:
    """Written by a newer version, or damaged: it is counted, and no request fails."""
    choice = await store.choose([("a", data)], 1)
    await choice.committed()

    assert await pins.find(["a"]) == {}
    assert pins.failures == 1
