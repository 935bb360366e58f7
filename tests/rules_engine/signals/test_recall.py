"""Asking for omitted text as a complaint."""

from __future__ import annotations

import pytest

from rules_engine.signals import recall
from rules_engine.types import Applied, Form, Observation, Omission, Rewritten, RuleRef

A, B = ("strip", 1), ("cap", 2)


def asking(command: str) -> Observation:
    """The result of a call."""
    return Observation(key="next", tool="bash", command=command, exit_code=0, text="")


def decision(key: str, **omitted: RuleRef) -> Rewritten:
    """A decision that left out texts by id, each by one rule."""
    form = Form(
        script=(),
        digest="",
        applied=tuple(Applied(rule=rule, loss="lossy", removed=100) for rule in (A, B)),
        omissions=tuple(Omission(id=name, spans=(), lines=9, rules=(rule,)) for name, rule in omitted.items()),
    )
    return Rewritten(key=key, raw_digest="", forms=(form,))


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("ls", id="another command"),
        pytest.param("grep recall:aaaaaa log", id="a search for the id"),
        pytest.param("echo recall:cccccc", id="an id that nobody omitted"),
    ],
)
def test_is_no_complaint(command: str) -> None:
    """Only asking for what was left out is one."""
    assert recall.blame(asking(command), [decision("k", aaaaaa=A)]) == ()


def test_blames_the_rule_that_left_it_out() -> None:
    """And no other that took part in the same rewrite."""
    (signal,) = recall.blame(asking("echo recall:bbbbbb"), [decision("k", aaaaaa=A, bbbbbb=B)])

    assert (signal.name, signal.key, signal.rules) == ("recall", "k", (B,))
    assert (signal.evidence, signal.weight) == ("echo recall:bbbbbb", recall.WEIGHT)


def test_each_id_is_a_complaint() -> None:
    """In the order in which they were asked for; a mark in two forms of a decision is one."""
    decisions = [decision("first", aaaaaa=A, bbbbbb=A), decision("second", bbbbbb=B)]
    signals = recall.blame(asking("echo recall:bbbbbb; echo recall:aaaaaa"), decisions)

    assert [(signal.key, signal.rules) for signal in signals] == [("second", (B,)), ("first", (A,))]
