"""Playing: attempts, faults, and what cannot be read."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.playing import FORMS, anthropic_messages, responses
from gateway.playing.commands import COMMAND
from gateway.playing.player import Player
from gateway.playing.saying import Form, Refused
from gateway.scenario import Fault, Scenario, Turn

ASK = {"messages": [{"role": "user", "content": "go"}], "input": "go"}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("request_", [{"messages": ["x"], "input": ["x"]}, {"messages": 7, "input": 7}])
def test_unreadable(form: Form, request_: dict[str, Any]) -> None:
    """A request that cannot be read is refused and takes no turn."""
    with pytest.raises(Refused, match="cannot be read") as raised:
        Player(Scenario()).play(form, request_)
    assert raised.value.status == 400


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_turn_that_fails_once(form: Form) -> None:
    """Each form's retry gets the turn; what another form asked is no attempt of its own."""
    player = Player(Scenario((Turn(text="Done.", fault=Fault(status=503, retry_after=2)),)))
    for each in FORMS.values():
        if each is not form:
            with pytest.raises(Refused):
                player.play(each, ASK)
    with pytest.raises(Refused, match="turn 0") as raised:
        player.play(form, ASK)
    assert (raised.value.status, raised.value.retry_after) == (503, 2)
    assert player.play(form, ASK).fault == Fault()


def test_a_question_beside_the_conversation() -> None:
    """One without tools uses up no attempt of those that have some."""
    player = Player(Scenario((Turn(text="Done.", fault=Fault(break_after=1)),)))
    tooled = ASK | {"tools": [{"name": "Bash", "input_schema": COMMAND}]}
    faults = [player.play(anthropic_messages, request).ends for request in (ASK, ASK, tooled, tooled)]
    assert faults == [False, True, False, True]


def test_a_warm_up_takes_no_turn() -> None:
    """It is answered with nothing, whatever is to go wrong, and the first request still gets its fault."""
    player = Player(Scenario((Turn(text="Done.", fault=Fault(status=500)),)))
    warm = player.play(responses, {"input": [], "generate": False})
    assert (warm.whole["output"], warm.ends) == ([], True)
    with pytest.raises(Refused):
        player.play(responses, ASK)
