"""Asking for omitted text as a complaint."""

from __future__ import annotations

import pytest

from rules_engine import Turn
from rules_engine.signals import recall
from rules_engine.types import Applied, Form, Observation, Omission, Rewritten, RuleRef
from tests.rules_engine.signals.turns import LOG, NEEDED, NOISE, A, B, raw, thinned, turn


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


ALONE = thinned("make", LOG, {NOISE: A})
BOTH = thinned("make all", LOG, {NOISE: A, NEEDED: B})


def recalls(name: str, said: str = "") -> Turn:
    """A turn that recalls."""
    return turn(raw(f"echo recall:{name}", f"recall:{name}"), said=said)


@pytest.mark.parametrize(
    "turns",
    [
        pytest.param([turn(ALONE), turn(raw("ls"))], id="no recall"),
        pytest.param([recalls("aaaaaa")], id="nothing before it"),
        pytest.param([turn(raw("make", LOG)), recalls("aaaaaa")], id="nothing was left out"),
        pytest.param([turn(ALONE), recalls("eeeeee")], id="an id that nobody omitted"),
        pytest.param([turn(BOTH), recalls("aaaaaa")], id="one of several rules, and nobody knows yet what for"),
        pytest.param([turn(BOTH), recalls("aaaaaa"), recalls("bbbbbb")], id="not found there: it asks on"),
    ],
)
def test_tells_nothing_yet(turns: list[Turn]) -> None:
    """Only a recall is one, once it is known which rule was in the way."""
    assert recall.detect(turns) == ()


@pytest.mark.parametrize(
    ("turns", "rules"),
    [
        pytest.param([turn(ALONE), recalls("aaaaaa")], (A,), id="the only rule, at once"),
        pytest.param([turn(ALONE), *[turn(raw("ls"))] * 40, recalls("aaaaaa")], (A,), id="however old the mark"),
        pytest.param([turn(BOTH), recalls("bbbbbb"), turn(raw("ls"))], (B,), id="it goes on: it has found it"),
        pytest.param(
            [turn(BOTH), recalls("aaaaaa"), recalls("bbbbbb"), turn(raw("ls"))], (B,), id="where it stopped to ask"
        ),
        pytest.param(
            [turn(BOTH), recalls("bbbbbb"), recalls("aaaaaa", said="It is 9f3ac1d2e0.")], (B,), id="what it used"
        ),
        pytest.param(
            [turn(BOTH), turn(raw("echo recall:aaaaaa; echo recall:bbbbbb")), Turn(said="It is 9f3ac1d2e0.")],
            (B,),
            id="two at once, and what it used of them",
        ),
        pytest.param(
            [turn(BOTH), turn(raw("echo recall:aaaaaa; echo recall:bbbbbb")), Turn(said="Good.")],
            (A, B),
            id="two at once, and nothing quoted",
        ),
    ],
)
def test_what_comes_after_tells_whom_it_blames(turns: list[Turn], rules: tuple[RuleRef, ...]) -> None:
    """The rule whose lines were wanted, as far as the agent shows it."""
    assert [signal.rules for signal in recall.detect(turns)] == [rules]
