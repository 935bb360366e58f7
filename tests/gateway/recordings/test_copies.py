"""Histories that stand in several files."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gateway.recordings import Copies, Session


def session(*said: str, agent: str = "Codex", **more: Any) -> Session:
    """Prompts and answers in turn."""
    messages = [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(said)]
    return Session("s", None, messages, (), agent=agent, **more)


def turns(*sessions: Session) -> list[list[int]]:
    """What is new in each, in order."""
    copies = Copies()
    return [list(copies.without(one).turns) for one in sessions]


def test_what_others_wrote_down_is_taken_as_it_is() -> None:
    """Two sessions that are alike were two."""
    assert turns(session("a", "b", agent=""), session("a", "b", agent="")) == [[1], [1]]


def test_the_same_words_behind_other_words_are_no_copy() -> None:
    """Nor are other words behind the same."""
    assert turns(session("a", "b"), session("x", "b"), session("a", "c")) == [[1], [1], [1]]


def test_a_branch_has_its_own_turns_only() -> None:
    """It begins with its first; a whole copy has none."""
    first, second = session("a", "b", "c", "d"), session("a", "b", "e", "f")
    assert turns(first, second, first) == [[1, 3], [3], []]

    copies = Copies()
    assert [copies.without(one).start for one in (first, second, first)] == [0, 3, 4]


def test_what_answered_nothing_stays_so() -> None:
    """A turn that its file does not count is not counted."""
    assert turns(session("a", "b", "c", "d", answers=[3]), session("a", "b", "c", "d")) == [[3], [1]]


@given(st.lists(st.lists(st.sampled_from("ab"), min_size=2, max_size=6), max_size=6))
def test_each_turn_counts_once(told: list[list[str]]) -> None:
    """However sessions branch, there are as many turns as there are histories that end in an answer."""
    histories = {tuple(said[: end + 1]) for said in told for end in range(1, len(said), 2)}
    assert sum(map(len, turns(*(session(*said) for said in told)))) == len(histories)
