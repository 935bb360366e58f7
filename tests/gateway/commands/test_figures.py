"""Figures for a person: columns, percent, money, and what is said where nothing is known."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.commands.figures import aligned, change, counted, dollars, plural, rows_of, told

KNOWN: dict[str, Any] = {
    "raw_tokens": 2000,
    "forwarded_tokens": 1500,
    "novel_saved": 100,
    "repeat_saved": 400,
    "saved_by_class": {"lossless": 500},
    "saved_by_rule": {"gutter": 100, "shown": 400},
    "cost_raw": 0.02,
    "cost_forwarded": 0.015,
    "cost_output": 0.001,
    "cost_reported": None,
    "reported": {"input": 1490, "cached": None, "cache_write": None, "output": 7},
}


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        pytest.param(0, 0, "±0.0 %", id="nothing"),
        pytest.param(10, 10, "+0.0 %", id="no difference"),
        pytest.param(200, 150, "−25.0 %", id="less"),
        pytest.param(200, 201, "+0.5 %", id="more"),
    ],
)
def test_change(before: float, after: float, said: str) -> None:
    """The difference is told in percent of what was before, with its sign."""
    assert change(before, after) == said


def test_columns_are_aligned() -> None:
    """Each column is as wide as its widest cell, and no line ends in blanks."""
    assert aligned([("a", "bb"), ("ccc", "")]) == "a    bb\nccc"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        pytest.param([], "", id="nothing to tell"),
        pytest.param([("A", ""), ("", "b")], "A\n   b", id="no text, and no title"),
        pytest.param([("A", "w" * 90)], f"A  {'w' * 90}", id="a word too long to fit"),
        pytest.param(
            [("Ab", "word " * 20), ("", "c")], f"Ab  {'word ' * 15}\n    word{' word' * 4}\n    c", id="a long text"
        ),
    ],
)
def test_told(rows: list[tuple[str, str]], said: str) -> None:
    """What is too long for a terminal goes on in the next line, below its beginning."""
    out = told(rows)
    assert out == said.replace(" \n", "\n")


def test_counts_and_words() -> None:
    """The largest comes first, equals by name; one is one."""
    assert counted({"b": 1, "c": 2000, "a": 1}) == "2,000 c, 1 a, 1 b"
    assert (plural(1, "request"), plural(2, "request"), dollars(None)) == ("1 request", "2 requests", "unknown")


def test_unknown_money_is_no_money() -> None:
    """Without a price there is no sum, not a sum of nothing."""
    assert ("Money", "unknown: the price map has no such model") in rows_of(KNOWN | {"cost_raw": None})


def test_rows_tell_tokens_money_and_origin() -> None:
    """Counted and reported tokens stand apart; what was not reported is not named."""
    rows = dict(row for row in rows_of(KNOWN) if row[0])
    assert rows["Tokens"] == "2,000 sent by the agent, 1,500 forwarded (−25.0 %)"
    assert rows["Money"] == "$0.0200 for prompts as sent, $0.0150 as forwarded (−25.0 %)"
    assert rows["Reported"] == "by the provider: 1,490 tokens of prompts, 7 of answers"
    assert ("", "shown 400, gutter 100") in rows_of(KNOWN)
    assert ("", "saved: 100 at first sight, 400 on later turns") in rows_of(KNOWN)
