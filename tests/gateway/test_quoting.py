"""Quotations: strings of tool results that an agent goes on to use."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gateway.messages.chat_completions import read_message
from gateway.quoting import Quotes, said


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
        pytest.param({}, "", id="nothing"),
        pytest.param({"content": None, "tool_calls": [1, {"function": 2}, {"function": {}}]}, "", id="odd calls"),
        pytest.param({"content": "x"}, "x", id="a string"),
        pytest.param({"content": [{"type": "text", "text": "x"}, {"type": "image"}, 3]}, "x", id="parts"),
        pytest.param({"tool_calls": [{"function": {"arguments": "{bad"}}]}, "{bad", id="arguments that are no JSON"),
        pytest.param(
            {"content": "x", "tool_calls": [{"function": {"name": "f", "arguments": json.dumps({"a": ["l\nm", 1]})}}]},
            "x\nl\nm",
            id="the strings in arguments, unescaped",
        ),
    ],
)
def test_what_a_message_says(message: dict[str, Any], text: str) -> None:
    """All that the agent says, in words or in the arguments of its calls."""
    raw = json.dumps({"role": "assistant", **message}).encode()
    assert said(read_message(raw, 0)).strip("\n") == text
