"""From signals to complaints."""

from __future__ import annotations

import pytest

from rules_engine.evolution.complaints import THRESHOLD, Complaint, complaints
from rules_engine.types import RuleRef, Signal, SignalName

A, B, C = ("strip", 1), ("cap", 2), ("units", 1)


def signal(weight: float, *rules: RuleRef, key: str = "k", name: SignalName = "reran", evidence: str = "e") -> Signal:
    """One signal against some rules."""
    return Signal(name=name, key=key, rules=rules, evidence=evidence, weight=weight)


@pytest.mark.parametrize(
    "signals",
    [
        pytest.param([], id="nobody said anything"),
        pytest.param([signal(0.5, A)], id="too little"),
        pytest.param([signal(1.0)], id="nobody is blamed"),
        pytest.param([signal(1.0, A, B)], id="one of two, and nobody knows which"),
        pytest.param([signal(0.7, A, B), signal(0.7, A, B)], id="the same doubt twice"),
        pytest.param([signal(0.4, A), signal(0.4, B)], id="a little against each of two"),
        pytest.param([signal(0.4, A, key="k"), signal(0.4, A, key="l")], id="a little about each of two results"),
    ],
)
def test_is_no_complaint(signals: list[Signal]) -> None:
    """Below the threshold, or with doubt about who it was, nobody is blamed."""
    assert complaints(signals) == ()


@pytest.mark.parametrize(
    ("signals", "rules"),
    [
        pytest.param([signal(THRESHOLD, A)], (A,), id="enough at once"),
        pytest.param([signal(0.3, A), signal(0.3, A)], (A,), id="evidence adds up"),
        pytest.param([signal(0.7, A, B), signal(0.3, B)], (B,), id="a share and something sure"),
        pytest.param([signal(0.9, A), signal(0.9, B)], (A, B), id="both, each for itself"),
        pytest.param([signal(0.7, A, B), signal(0.5, B, C), signal(0.8, C)], (C,), id="the sure one of three"),
    ],
)
def test_enough_evidence_blames_those_it_is_about(signals: list[Signal], rules: tuple[RuleRef, ...]) -> None:
    """And no other that left something out of the same result."""
    assert [complaint.rules for complaint in complaints(signals)] == [rules]


def test_a_complaint_says_what_speaks_for_it() -> None:
    """The evidence that is about the rules blamed, each once, under the name of the strongest."""
    heard = [
        signal(0.4, A, name="reran", evidence="again"),
        signal(0.4, A, name="reran", evidence="again"),
        signal(0.5, A, B, name="asked", evidence="asked"),
        signal(0.2, B, name="reran", evidence="other"),
        signal(1.0, C, name="recall", key="l", evidence="recalled"),
    ]

    assert complaints(heard) == (
        Complaint(name="asked", rules=(A,), key="k", evidence=("again", "asked"), weight=1.05),
        Complaint(name="recall", rules=(C,), key="l", evidence=("recalled",), weight=1.0),
    )


def test_the_threshold_can_be_set() -> None:
    """A cautious operator hears less."""
    assert complaints([signal(0.7, A)], threshold=0.8) == ()
