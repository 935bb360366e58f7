"""The scripted model, and the arm without a critical gate."""

from __future__ import annotations

import pytest

from rules_engine import Context, Observation, Rewritten, Rule, RuleSet, Sample, decide, render_form
from rules_engine.evolution.numbers import Numbers
from rules_engine.evolution.planning import call
from rules_engine.evolution.prompts import About, Missed, Start, Uncovered
from rules_engine.evolution.proposals import Outcome
from rules_engine.types import Trigger
from tests.bench import small
from tests.bench.arms import ungated
from tests.bench.scripted import Script, propose

RULE = Rule(
    id="noise",
    kind="line_filter",
    trigger=Trigger(pattern=r"\bpytest\b"),
    params={"strip_patterns": ["PASSED", "FAILED"], "keep_patterns": [], "keep_first_n": 1, "keep_last_n": 1},
    on_failing=True,
)
OBSERVATION = Observation(
    key="k", tool="bash", command="pytest -v", exit_code=1, text=small.TESTS + "test_x FAILED\n" + small.TESTS
)


def ask(about: About) -> Outcome:
    """One call, answered by the script."""
    calling = call(about, tuple, Numbers())
    try:
        calling.send(Script().answer(next(calling)))
    except StopIteration as end:
        outcome: Outcome = end.value
        return outcome
    raise AssertionError("a call asks once")


@pytest.mark.parametrize(
    ("about", "proposed", "selected"),
    [
        pytest.param(Start(task="mend it", rules=(RULE,)), [], [("noise", 1)], id="a plan"),
        pytest.param(Start(task="mend it"), ["model_test", "model_pip", "model_git"], None, id="a cold plan"),
        pytest.param(Uncovered(command="pip install x", text=small.INSTALL), ["model_pip"], None, id="a new rule"),
        pytest.param(
            Missed(rule=RULE, command="pytest", text=small.TESTS, said="where is test_case_7?"), ["noise_v2"], None, id="a softer one"
        ),
    ],
)  # fmt: skip
def test_the_script_answers_all_four_calls(about: About, proposed: list[str], selected: list[object] | None) -> None:
    """In the form that is asked for."""
    outcome = ask(about)

    assert [rule.id for rule in outcome.proposed] == proposed
    assert selected is None or list(outcome.selected or ()) == selected


def test_each_sort_of_command_is_asked_about_once() -> None:
    """And what it costs is counted."""
    large = Observation(key="", tool="bash", command="pip install x", exit_code=0, text=small.INSTALL * 2)
    samples = [Sample(observation=large, used=frozenset(), known=frozenset(), session="s")] * 3
    script = Script()

    assert [rule.id for rule in propose(samples, script, Numbers())] == ["model_pip"]
    assert script.calls == 1
    assert script.tokens > 500


def test_without_the_gate_a_failure_goes_and_with_it_it_stays() -> None:
    """The bench alone can switch it off, and it is on again afterwards."""
    context, ruleset = Context(shell=True, chars=10_000), RuleSet(rules=(RULE,))

    def shown() -> str:
        decision = decide(OBSERVATION, ruleset, context)
        return render_form(OBSERVATION.text, decision.forms[0]) if isinstance(decision, Rewritten) else OBSERVATION.text

    assert "test_x FAILED" in shown()
    with ungated():
        assert "test_x FAILED" not in shown()
    assert "test_x FAILED" in shown()
