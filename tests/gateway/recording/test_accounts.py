"""Accounts: tokens add up, money follows the cache, and what was not reported is not made up."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.recording.accounts import (
    Accounts,
    CacheSimulator,
    Counted,
    Reported,
    attribute,
    prompt_cost,
    read_reported,
    settle,
)
from gateway.recording.marks import Marked
from gateway.recording.prices import Price, Rates
from rules_engine.types import Applied

RATES = Rates(input=1.0, read=0.1, write=1.25, write_hour=2.0, output=10.0)
DEAR = Rates(input=2.0, read=0.2, write=2.5, write_hour=4.0, output=20.0)
PRICE = Price(model="m", tiers=((0, RATES), (1000, DEAR)), minimum=100, lifetime=300.0)


def message(name: str, raw: int, forwarded: int | None = None, *applied: Applied, novel: bool = False) -> Counted:
    """A message of so many tokens; rewritten if the second number is given."""
    sent = name if forwarded is None else f"{name}*"
    counts = {"raw_tokens": raw, "forwarded_tokens": raw if forwarded is None else forwarded}
    return Counted(raw=name.encode(), forwarded=sent.encode(), applied=applied, novel=novel, **counts)


def rule(name: str, removed: int, loss: Any = "lossless") -> Applied:
    """One rule's part in a rewrite."""
    return Applied(rule=(name, 1), loss=loss, removed=removed)


def look(
    prompts: Sequence[tuple[str, float, list[Counted]]],
    parent: str | None = None,
    simulator: CacheSimulator | None = None,
) -> list[tuple[int, int]]:
    """What is cached of each prompt, sent in a session at a time."""
    simulator = simulator or CacheSimulator()
    return [simulator.look(session, counted, PRICE, now, parent) for session, now, counted in prompts]


A, B, C = message("a", 100), message("b", 50, 20), message("c", 30)


@pytest.mark.parametrize(
    ("prompts", "expected"),
    [
        pytest.param([("s", 0, [])], [(0, 0)], id="an empty prompt"),
        pytest.param([("s", 0, [A, B])], [(0, 0)], id="a first prompt"),
        pytest.param([("s", 0, [A]), ("t", 0, [A])], [(0, 0)] * 2, id="another session"),
        pytest.param([("s", 0, [B]), ("s", 0, [B, C])], [(0, 0)] * 2, id="less than the minimum"),
        pytest.param([("s", 0, [A]), ("s", 301, [A])], [(0, 0)] * 2, id="after the lifetime"),
        pytest.param([("s", 0, [C, A]), ("s", 1, [A])], [(0, 0)] * 2, id="a prompt that begins otherwise"),
        pytest.param([("s", 0, [A, B]), ("s", 300, [A, B, C])], [(0, 0), (150, 120)], id="a longer prompt"),
        pytest.param([("s", 0, [A, B]), ("s", 1, [A, B])], [(0, 0), (150, 120)], id="a retry"),
        pytest.param([("s", 0, [A, B, C]), ("s", 1, [A, C])], [(0, 0), (100, 100)], id="an edited history"),
        pytest.param(
            [("s", 0, [A]), ("s", 200, [A]), ("s", 400, [A])], [(0, 0), *[(100, 100)] * 2], id="use keeps it alive"
        ),
        pytest.param(
            [("s", 0, [A, message("b", 50)]), ("s", 1, [A, B])],
            [(0, 0), (150, 100)],
            id="a message rewritten after it was sent is written anew, and seen to be",
        ),
    ],
)
def test_cache(prompts: list[tuple[str, float, list[Counted]]], expected: list[tuple[int, int]]) -> None:
    """The leading messages that were sent before are cached, in either world."""
    assert look(prompts) == expected


def test_cache_of_the_parent() -> None:
    """A session that branches off begins with what its parent sent, and goes on with its own."""
    simulator = CacheSimulator()
    look([("s", 0, [A, B])], simulator=simulator)
    assert look([("t", 1, [A, C]), ("t", 2, [A, C])], "s", simulator) == [(100, 100), (130, 130)]


@pytest.mark.parametrize(
    ("prompts", "expected"),
    [
        pytest.param([(0, [A, B], (0, 0)), (1, [A, B], (0, 0))], [(0, 0)] * 2, id="no marks"),
        pytest.param([(0, [A, B], (0, 0)), (1, [A, B], (2, 0))], [(0, 0)] * 2, id="a first mark"),
        pytest.param([(0, [A, B], (2, 0)), (1, [A, B, C], (3, 0))], [(0, 0), (150, 120)], id="marks that move on"),
        pytest.param([(0, [A, B], (1, 0)), (1, [A, B, C], (3, 0))], [(0, 0), (100, 100)], id="only what was marked"),
        pytest.param([(0, [A, B], (2, 0)), (1, [A, B], (1, 0))], [(0, 0), (100, 100)], id="only what is marked"),
        pytest.param(
            [(0, [A, B], (2, 0)), (1, [C], (0, 0)), (2, [A, B], (2, 0))],
            [(0, 0), (0, 0), (150, 120)],
            id="one without marks takes nothing out",
        ),
        pytest.param([(0, [A, B], (2, 0)), (301, [A, B], (2, 0))], [(0, 0)] * 2, id="after five minutes"),
        pytest.param([(0, [A, B], (2, 2)), (3600, [A, B], (2, 2))], [(0, 0), (150, 120)], id="within an hour"),
        pytest.param([(0, [A, B], (2, 2)), (3601, [A, B], (2, 2))], [(0, 0)] * 2, id="after an hour"),
        pytest.param([(0, [A, B], (2, 1)), (600, [A, B], (2, 1))], [(0, 0), (100, 100)], id="the part for an hour"),
    ],
)
def test_cache_by_marks(
    prompts: list[tuple[float, list[Counted], tuple[int, int]]], expected: list[tuple[int, int]]
) -> None:
    """Where the provider goes by marks, it keeps a prompt up to the last, for as long as they ask."""
    simulator = CacheSimulator()
    assert expected == [
        simulator.look("s", counted, PRICE, now, marked=Marked(all=reach, hour=hour))
        for now, counted, (reach, hour) in prompts
    ]


def test_cache_by_model() -> None:
    """Models do not share a cache."""
    simulator = CacheSimulator()
    look([("s", 0, [A])], simulator=simulator)
    other = Price(model="n", tiers=PRICE.tiers, minimum=100, lifetime=300.0)
    assert simulator.look("s", [A], other, 1) == (0, 0)


def test_cache_is_bounded() -> None:
    """The sessions used longest ago are forgotten."""
    simulator = CacheSimulator(messages=8)
    look([(name, 0, [A]) for name in "stu"], simulator=simulator)
    assert look([("s", 0, [A])], simulator=simulator) == [(0, 0)]
    assert look([("u", 0, [A])], simulator=simulator) == [(100, 100)]


@pytest.mark.parametrize(
    ("tokens", "cached", "cost"),
    [
        pytest.param(0, 0, 0.0, id="nothing"),
        pytest.param(99, 0, 99.0, id="under the minimum nothing is written"),
        pytest.param(100, 0, 125.0, id="all written"),
        pytest.param(200, 120, 112.0, id="part read, part written"),
        pytest.param(1001, 1001, 200.2, id="above the limit all is dearer"),
    ],
)
def test_prompt_cost(tokens: int, cached: int, cost: float) -> None:
    """Cached tokens are read, the others written."""
    assert prompt_cost(PRICE, tokens, cached) == pytest.approx(cost)


@pytest.mark.parametrize(
    ("tokens", "cached", "kept", "hour", "cost"),
    [
        pytest.param(500, 0, 0, 0, 500.0, id="no marks: plain input"),
        pytest.param(500, 0, 99, 99, 500.0, id="marks under the minimum"),
        pytest.param(500, 0, 400, 0, 400 * 1.25 + 100, id="written up to the mark"),
        pytest.param(500, 300, 400, 0, 30 + 125 + 100, id="read, written, plain"),
        pytest.param(500, 0, 400, 400, 800 + 100, id="written for an hour"),
        pytest.param(500, 100, 400, 300, 10 + 400 + 125 + 100, id="in part for an hour"),
        pytest.param(500, 300, 400, 200, 30 + 125 + 100, id="what is read is not written"),
    ],
)
def test_prompt_cost_by_marks(tokens: int, cached: int, kept: int, hour: int, cost: float) -> None:
    """What stands behind the last mark is plain input; what is kept for an hour is dearer to write."""
    assert prompt_cost(PRICE, tokens, cached, kept, hour) == pytest.approx(cost)


@pytest.mark.parametrize(
    ("counted", "by_class", "by_rule"),
    [
        pytest.param([], {}, {}, id="nothing"),
        pytest.param([A, C], {}, {}, id="nothing rewritten"),
        pytest.param(
            [message("a", 9, 4, rule("x", 0))], {"lossless": 5}, {"x": 5}, id="a rule that removed no characters"
        ),
        pytest.param(
            [message("a", 100, 60, rule("x", 30), rule("y", 10, "lossy"))],
            {"lossless": 30, "lossy": 10},
            {"x": 30, "y": 10},
            id="shared out by removed characters",
        ),
        pytest.param(
            [message("a", 10, 0, rule("x", 1), rule("y", 1), rule("z", 1)), message("b", 5, 4, rule("z", 9))],
            {"lossless": 11},
            {"x": 3, "y": 4, "z": 4},
            id="nothing lost by rounding",
        ),
        pytest.param(
            [message("a", 4, 6, rule("x", 8))], {"lossless": -2}, {"x": -2}, id="fewer characters, more tokens"
        ),
    ],
)
def test_attribute(counted: list[Counted], by_class: dict[str, int], by_rule: dict[str, int]) -> None:
    """What a message saved is shared out among the rules that took part."""
    assert attribute(counted) == (by_class, by_rule)


COUNTED = st.builds(
    lambda raw, sent, removed: message("a", raw, sent, *(rule(f"r{k}", n) for k, n in enumerate(removed))),
    st.integers(0, 5000),
    st.integers(0, 5000),
    st.lists(st.integers(1, 9000), min_size=1, max_size=4),
)


@given(st.lists(COUNTED, max_size=6))
def test_attributed_tokens_add_up(counted: list[Counted]) -> None:
    """By class and by rule the savings add up to the whole."""
    accounts = settle(counted, 0, Reported(), None, None)
    saved = accounts.raw_tokens - accounts.forwarded_tokens
    assert sum(accounts.saved_by_class.values()) == sum(accounts.saved_by_rule.values()) == saved
    assert accounts.novel_saved + accounts.repeat_saved == saved


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        pytest.param(None, Reported(), id="nothing"),
        pytest.param({}, Reported(), id="an empty object"),
        pytest.param(
            {"prompt_tokens": "5", "completion_tokens": True, "prompt_tokens_details": None},
            Reported(),
            id="no numbers",
        ),
        pytest.param({"prompt_tokens": 0, "completion_tokens": 0}, Reported(input=0, output=0), id="a reported 0"),
        pytest.param(
            {
                "prompt_tokens": 9,
                "completion_tokens": 2,
                "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 4},
            },
            Reported(input=9, cached=0, cache_write=4, output=2),
            id="with details",
        ),
        pytest.param(
            {"prompt_tokens": 9, "prompt_cache_hit_tokens": 4}, Reported(input=9, cached=4), id="cache hits beside"
        ),
        pytest.param(
            {"input_tokens": 9, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 5}},
            Reported(input=9, cached=5, output=2),
            id="of Responses",
        ),
        pytest.param(
            {"input_tokens": 9, "output_tokens": 2, "cache_read_input_tokens": 50, "cache_creation_input_tokens": 7},
            Reported(input=66, cached=50, cache_write=7, output=2),
            id="of Messages, which count beside the input what the cache did",
        ),
        pytest.param(
            {
                "input_tokens": 9,
                "cache_creation_input_tokens": 7,
                "cache_creation": {"ephemeral_5m_input_tokens": 2, "ephemeral_1h_input_tokens": 5},
            },
            Reported(input=16, cache_write=7, cache_write_hour=5),
            id="of Messages, kept in part for an hour",
        ),
        pytest.param(
            {"input_tokens": 9, "cache_creation_input_tokens": 7, "cache_creation": [5]},
            Reported(input=16, cache_write=7),
            id="of Messages, kept for nobody knows how long",
        ),
        pytest.param({"input_tokens": 9, "output_tokens": None}, Reported(input=9), id="of a message that begins"),
    ],
)
def test_read_reported(usage: dict[str, object] | None, expected: Reported) -> None:
    """What a provider reports is read; what it does not is `None`."""
    assert read_reported(usage) == expected


TURN = [A, message("b", 50, 20, rule("gutter", 90)), message("c", 60, 30, rule("pip", 100, "lossy"), novel=True)]


def test_settle() -> None:
    """One request's figures, in both worlds."""
    reported = Reported(input=160, cached=100, cache_write=20, output=7)
    accounts = settle(TURN, 5, reported, PRICE, (150, 120))
    assert accounts.cost_raw == pytest.approx(15 + 75)
    assert accounts.cost_forwarded == pytest.approx(12 + 37.5)
    assert accounts.cost_reported == pytest.approx(10 + 25 + 40 + 70)
    assert accounts == Accounts(
        approximate=False,
        raw_tokens=210,
        forwarded_tokens=150,
        output_tokens=5,
        novel_saved=30,
        repeat_saved=30,
        saved_by_class={"lossless": 30, "lossy": 30},
        saved_by_rule={"gutter": 30, "pip": 30},
        cached_raw=150,
        cached_forwarded=120,
        price="m",
        cost_raw=accounts.cost_raw,
        cost_forwarded=accounts.cost_forwarded,
        cost_output=70.0,
        cost_reported=accounts.cost_reported,
        reported=reported,
    )


def test_settle_by_marks() -> None:
    """Each world is written up to the mark, and the hour is paid as the provider reported it."""
    reported = Reported(input=160, cached=100, cache_write=40, cache_write_hour=30, output=7)
    accounts = settle(TURN, 5, reported, PRICE, (100, 100), marked=Marked(all=2, hour=1))
    assert accounts.cost_raw == pytest.approx(10 + 50 * 1.25 + 60)
    assert accounts.cost_forwarded == pytest.approx(10 + 20 * 1.25 + 30)
    assert accounts.cost_reported == pytest.approx(10 + 30 * 2 + 10 * 1.25 + 20 + 70)


def test_settle_without_a_price() -> None:
    """Without a price there is no money; the tokens stand."""
    accounts = settle(TURN, 5, Reported(input=1), None, None, approximate=True)
    money = [accounts.cost_raw, accounts.cost_forwarded, accounts.cost_output, accounts.cost_reported, accounts.price]
    assert [*money, accounts.cached_raw, accounts.cached_forwarded] == [None] * 7
    assert (accounts.approximate, accounts.raw_tokens) == (True, 210)


@pytest.mark.parametrize("reported", [Reported(), Reported(input=5), Reported(output=5)])
def test_settle_without_reported_usage(reported: Reported) -> None:
    """What the provider did not report is not priced, but the answer is by its counted tokens."""
    accounts = settle(TURN, 5, reported, PRICE, (0, 0))
    assert accounts.cost_reported is None
    assert accounts.cost_output == 50.0


def test_as_dict_is_plain_data() -> None:
    """The archived form is JSON, with what was not reported as null."""
    plain = json.loads(json.dumps(settle(TURN, 5, Reported(input=3), PRICE, (0, 0)).as_dict()))
    assert plain["reported"] == {
        "input": 3,
        "cached": None,
        "cache_write": None,
        "cache_write_hour": None,
        "output": None,
    }
    assert plain["saved_by_rule"] == {"gutter": 30, "pip": 30}


@given(st.lists(st.tuples(st.integers(0, 900), st.integers(0, 900)), min_size=1, max_size=8))
def test_an_append_only_session_is_never_dearer(sizes: list[tuple[int, int]]) -> None:
    """Where each message is rewritten at first sight, shortened and kept so, forwarding never costs more than raw."""
    price = Price(model="m", tiers=((0, RATES),), minimum=0, lifetime=300.0)
    simulator = CacheSimulator()
    counted: list[Counted] = []
    for k, (size, other) in enumerate(sizes):
        counted.append(message(f"{k}", max(size, other), min(size, other)))
        accounts = settle(counted, 0, Reported(), price, simulator.look("s", counted, price, 0))
        assert accounts.cost_forwarded is not None
        assert accounts.cost_raw is not None
        assert accounts.cost_forwarded <= accounts.cost_raw + 1e-9
