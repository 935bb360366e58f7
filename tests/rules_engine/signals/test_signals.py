"""The table of signals."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine import Result, Turn, detect
from rules_engine.signals import SIGNALS
from rules_engine.types import Rewritten, SignalName
from tests.rules_engine.signals.turns import LOG, NEEDED, NOISE, A, B, raw, thinned, turn

COMMANDS = ("make", "make | grep digest", "ls", "rm x.o", "echo recall:aaaaaa", "cat out.txt", '{"path": "x"}', "")
SAID = ("", "I need to see the full output.", "It is 9f3ac1d2e0.", "[1 line omitted: echo recall:aaaaaa]")
TURNS = st.lists(
    st.builds(
        lambda said, command, text, hides: turn(
            thinned(command, text, {NOISE: A, NEEDED: B}) if hides else raw(command, text), said=said
        ),
        st.sampled_from(SAID),
        st.sampled_from(COMMANDS),
        st.sampled_from((LOG, NEEDED, "", "old_str not found")),
        st.booleans(),
    ),
    max_size=6,
)


def test_no_turns_say_nothing() -> None:
    """Before the first answer there is nothing to judge."""
    assert detect(()) == ()


@pytest.mark.parametrize("name", SIGNALS)
def test_every_signal_has_a_weight_and_a_name(name: str) -> None:
    """Weights are shares of a complaint."""
    assert name in get_args(SignalName)
    assert 0 < SIGNALS[name].WEIGHT <= 1  # type: ignore[index]


@given(TURNS)
def test_uncompressed_sessions_are_silent(turns: list[Turn]) -> None:
    """Where nothing was left out nobody complains, whatever the agent does."""
    plain = [Turn(said=t.said, results=tuple(Result(observation=r.observation) for r in t.results)) for t in turns]

    assert detect(plain) == ()


@given(TURNS)
def test_only_what_left_something_out_is_blamed(turns: list[Turn]) -> None:
    """A signal names a result from before the newest turn, and rules that left lines out of it."""
    left_out = {
        (decision.key, rule)
        for t in turns[:-1]
        for decision in (r.decision for r in t.results)
        if isinstance(decision, Rewritten)
        for omission in decision.forms[0].omissions
        for rule in omission.rules
    }

    for signal in detect(turns):
        assert {(signal.key, rule) for rule in signal.rules} <= left_out
        assert signal.rules


@given(TURNS)
def test_evidence_holds_no_text_of_the_tools(turns: list[Turn]) -> None:
    """Ids, counts and names of commands only: evidence is stored and shown."""
    assert not [s for s in detect(turns) for secret in ("9f3ac1d2e0", "4711", "plan") if secret in s.evidence]
