"""Keys of a session: what its user speaks of and others do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.remembering.topics import MOST, keys_of
from memory.levels.insight import key_problem


@pytest.mark.parametrize(
    "said",
    [[], [""], ["Please fix the failing test and run it again"], ["a b c 1 2 3"], ["10.0.0.7 4711"]],
    ids=["nobody speaks", "nothing", "common words only", "too short", "values only"],
)
def test_where_nothing_tells_there_are_no_keys(said: list[str]) -> None:
    """No key is better than one that fits every session."""
    assert keys_of(said) == ()


@pytest.mark.parametrize(
    ("said", "keys"),
    [
        (["Fix the wechat payment callback: payment is lost"], ("payment", "callback", "wechat")),
        (["修复支付 回调"], ("修复支付", "回调")),
        (["결제 오류"], ("결제", "오류")),
        (["Wechat WECHAT wechat invoice"], ("wechat", "invoice")),
    ],
    ids=["the words said most, then the longest", "Chinese", "Korean", "capitals do not count"],
)
def test_keys_are_words_that_tell(said: list[str], keys: tuple[str, ...]) -> None:
    """In any script."""
    assert keys_of(said) == keys


def test_what_other_sessions_say_too_tells_less() -> None:
    """A word of every task of a project is no key to one."""
    others = [["django migration"], ["django admin"]]
    assert keys_of(["django django django invoice"], others) == ("invoice", "django")


@given(said=st.lists(st.text(max_size=60), max_size=4))
def test_every_key_can_stand_in_the_index(said: list[str]) -> None:
    """Few, distinct, without values."""
    keys = keys_of(said)
    assert len(keys) == len(set(keys)) <= MOST
    assert [key for key in keys if key_problem(key)] == []
