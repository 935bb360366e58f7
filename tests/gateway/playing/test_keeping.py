"""Keeping: what a request goes on from, and who knows it."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.playing.keeping import Keeper, Kept
from gateway.playing.saying import Refused

ONE = {"id": "resp_1", "output": [{"type": "message", "role": "assistant"}]}
TWO = {"id": "resp_2", "output": []}
ASK = {"type": "message", "role": "user", "content": "go"}
WHOLE = (ASK, *ONE["output"])


def test_nothing_is_known() -> None:
    """A request that goes on from nothing has no history; a conversation begins empty."""
    assert Keeper({}).history({"input": "go"}) == ()
    assert Keeper({}).history({"conversation": "conv_1"}) == ()
    assert Keeper({}).history({"conversation": {}}) == ()


def test_an_unknown_response() -> None:
    """Who goes on from it is told so in the API's words; who looks it up, too."""
    with pytest.raises(Refused) as raised:
        Keeper({}).history({"previous_response_id": "resp_9"})
    assert (raised.value.status, raised.value.code) == (400, "previous_response_not_found")
    with pytest.raises(Refused):
        Keeper({}).history({"previous_response_id": ["resp_9"]})
    with pytest.raises(Refused) as raised:
        Keeper({}).find("resp_9")
    assert raised.value.status == 404


@pytest.mark.parametrize(
    ("request_", "mine", "others"),
    [
        pytest.param({"input": "go"}, True, True, id="stored"),
        pytest.param({"input": "go", "store": True}, True, True, id="stored as asked"),
        pytest.param({"input": "go", "store": False}, True, False, id="not to be stored"),
    ],
)
def test_who_knows_it(request_: dict[str, Any], mine: bool, others: bool) -> None:
    """What is not to be stored only its own connection remembers."""
    stored: dict[str, Kept] = {}
    connection = Keeper(stored)
    connection.keep(request_, ONE)
    for keeper, knows in ((connection, mine), (Keeper(stored), others)):
        if knows:
            assert keeper.history({"previous_response_id": "resp_1"}) == WHOLE
        else:
            with pytest.raises(Refused):
                keeper.find("resp_1")


def test_a_chain() -> None:
    """Each response has all that led to it; two may go on from the same one."""
    keeper = Keeper({})
    keeper.keep({"input": "go"}, ONE)
    keeper.keep({"input": [{"role": "user"}], "previous_response_id": "resp_1"}, TWO)
    assert keeper.find("resp_1").history == WHOLE
    assert keeper.find("resp_2").history == (*WHOLE, {"role": "user"})
    assert keeper.find("resp_2").given == [{"role": "user"}]


def test_a_conversation_grows() -> None:
    """Under its one name."""
    keeper = Keeper({})
    keeper.keep({"input": "go", "conversation": "conv_1"}, ONE)
    keeper.keep({"input": "go", "conversation": {"id": "conv_1"}}, TWO)
    assert keeper.history({"conversation": "conv_1"}) == (*WHOLE, ASK)


def test_a_conversation_that_was_opened() -> None:
    """It begins with the items that it was given."""
    keeper = Keeper({})
    made = keeper.open("conv_1", {"items": [ASK], "metadata": {"a": "b"}})
    keeper.keep({"input": [], "conversation": "conv_1"}, ONE)
    assert (made["id"], made["metadata"]) == ("conv_1", {"a": "b"})
    assert keeper.history({"conversation": "conv_1"}) == WHOLE


@pytest.mark.parametrize("store", [True, False], ids=["stored", "not stored"])
def test_steering(store: bool) -> None:
    """What is said on the way stands behind the response, where that is kept."""
    stored: dict[str, Kept] = {}
    keeper = Keeper(stored)
    keeper.keep({"input": "go", "store": store}, ONE)
    keeper.steer("resp_1", {"input": "go"})
    assert keeper.history({"previous_response_id": "resp_1"}) == (*WHOLE, ASK)
    assert ("resp_1" in stored) is store
