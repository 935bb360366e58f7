"""Quotations: strings of tool results that an agent goes on to use."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gateway.quoting import Quotes, text_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("", set(), id="nothing"),
        pytest.param("The tests fail. Read it; go on...", set(), id="plain language"),
        pytest.param("ab 1 x_", set(), id="too short to tell"),
        pytest.param("see src/a_b.py:12, then v1.2.3", {"src/a_b.py", "v1.2.3"}, id="paths and versions"),
        pytest.param("call fooBar(baz_quux)", {"fooBar", "baz_quux"}, id="identifiers"),
        pytest.param("commit 7f3a9c1 has 1042 lines", {"7f3a9c1", "1042"}, id="hashes and numbers"),
        pytest.param("/etc/hosts", {"/etc/hosts"}, id="absolute paths"),
    ],
)
def test_words(text: str, words: set[str]) -> None:
    """Only what is not of plain language counts."""
    assert Quotes().words(text) == words


def test_what_was_said_before_is_not_taken_from_a_result() -> None:
    """A string counts as used only if it can have come from nowhere but a tool result."""
    quotes = Quotes()
    turn = "edit a/one.py, a/two.py and a/six.py"
    assert quotes.used(turn, [], []) == set()
    assert quotes.used(turn, ["a/one.py", "x a/two.py"], ["what of a/two.py"]) == {"a/one.py"}


def test_what_no_longer_stands_is_found() -> None:
    """A word that is cut is not there."""
    used = frozenset({"a/one.py", "a/two.py"})
    assert Quotes().standing(used, ["a/one.py", "a/tw"]) == {"a/one.py"}
    assert Quotes().standing(used, ["a/one.py", "a/tw"], absent=True) == {"a/two.py"}


@pytest.mark.parametrize(
    ("message", "text"),
    [
        pytest.param({"role": "assistant"}, "", id="nothing"),
        pytest.param({"content": None, "tool_calls": [1, {"function": 2}, {"function": {}}]}, "", id="odd calls"),
        pytest.param({"content": "x"}, "x", id="a string"),
        pytest.param({"content": [{"type": "text", "text": "x"}, {"type": "image"}, 3]}, "x", id="parts"),
        pytest.param({"tool_calls": [{"function": {"arguments": "{bad"}}]}, "{bad", id="arguments that are no JSON"),
        pytest.param(
            {"content": "x", "tool_calls": [{"function": {"arguments": json.dumps({"a": ["l\nm", 1]})}}]},
            "x\nl\nm",
            id="the strings in arguments, unescaped",
        ),
    ],
)
def test_text_of_a_message(message: dict[str, Any], text: str) -> None:
    """All that the agent says, in words or in the arguments of its calls."""
    assert text_of(message) == text
