"""All traps are kept, and a trap that is lost is seen to be."""

from __future__ import annotations

import pytest

from gateway.config import Config
from gateway.evolving.rules import built_in
from rules_engine import RuleSet
from tests.bench.trapped import TRAPS, Trap
from tests.bench.traps import judge, lost, report

RULES = RuleSet(rules=tuple(sorted(built_in(Config()), key=lambda rule: (rule.priority, rule.id))))


def count(text: str) -> int:
    """About the tokens of a text."""
    return len(text.encode()) // 4


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap.name)
def test_no_trap_is_lost(trap: Trap) -> None:
    """What matters stands in what the model sees, which is no longer than what was printed."""
    verdict = judge(trap, RULES, count)
    assert verdict.lost == ()
    assert verdict.saved >= 0


def test_there_are_fifty_and_more_than_half_is_saved() -> None:
    """Each under a name of its own."""
    assert len({trap.name for trap in TRAPS}) == 50
    assert sum(judge(trap, RULES, count).saved for trap in TRAPS) / len(TRAPS) >= 0.55


@pytest.mark.parametrize(
    ("result", "fault"),
    [
        pytest.param("a  needle\nstands", (), id="blanks may differ"),
        pytest.param("a need", ("a needle",), id="it is gone"),
        pytest.param("a needle. No tests ran", ("says 'no tests'",), id="a phrase misleads"),
    ],
)
def test_what_is_lost_is_named(result: str, fault: tuple[str, ...]) -> None:
    """Needles that are missing, and phrases that should be."""
    assert lost(Trap("t", "make", "", ("a needle",), never=("no tests",)), result) == fault


def test_verbatim_is_verbatim() -> None:
    """A blank more is too much, and the report says so."""
    trap = Trap("t", "cat a", "a b\n" * 90, verbatim=True)
    assert lost(trap, trap.text) == ()
    assert lost(trap, trap.text + " ") == ("not verbatim",)
    assert report([judge(trap, RuleSet(), count)]).endswith("kept 1 of 1, mean saving 0.0%, of those kept 0.0%")
