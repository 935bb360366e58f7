"""Each rule has a reason for what it does, and for what it does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rules_engine import Context, Observation, Rule, RuleSet, Settings, features
from rules_engine.explaining import explain
from rules_engine.types import Trigger

RULE = Rule(
    id="r",
    kind="line_filter",
    trigger=Trigger(pattern="^fetch"),
    params={"strip_patterns": ["^part "], "keep_first_n": 1, "keep_last_n": 1},
    evidence={"lines": 900, "used": 0, "outputs": 30},
)
TEXT = "\n".join(["begin", *(f"part {k} kept under a long name of its own in the set" for k in range(40)), "closed"])
FETCH = Observation(key="k", tool="bash", command="fetch all", exit_code=0, text=TEXT)
HERE = Context(shell=True, chars=10_000)
FAILED = replace(FETCH, exit_code=1)


@pytest.mark.parametrize(
    ("rule", "observation", "context", "settings", "words"),
    [
        pytest.param(RULE, FETCH, HERE, Settings(disabled=frozenset({"r"})), "switched off", id="off"),
        pytest.param(
            replace(RULE, confidence=0.2), FETCH, HERE, Settings(), "confidence 0.20 is under 0.3", id="doubted"
        ),
        pytest.param(RULE, FETCH, Context(shell=False, chars=9999), Settings(), "no shell", id="no shell"),
        pytest.param(
            RULE, replace(FETCH, command="make"), HERE, Settings(), "its trigger is not", id="another command"
        ),
        pytest.param(RULE, replace(FETCH, command="fetch; cat x"), HERE, Settings(), "'read'", id="a file"),
        pytest.param(RULE, FAILED, HERE, Settings(), "states a failure", id="a failing output"),
        pytest.param(
            RULE, replace(FETCH, text="one line " * 30), HERE, Settings(), "nothing that it may", id="no line"
        ),
        pytest.param(RULE, replace(FETCH, text="x"), HERE, Settings(), "short", id="short"),
        pytest.param(
            RULE,
            FETCH,
            HERE,
            Settings(),
            "40 lines left out; such lines were used 0 times of 900 in 30 outputs",
            id="fires",
        ),
    ],
)
def test_reasons(rule: Rule, observation: Observation, context: Context, settings: Settings, words: str) -> None:
    """What is said is what held it back, or what it did and on what grounds."""
    (reason,) = explain(observation, RuleSet(rules=(rule,), settings=settings), context)
    assert words in reason.words
    assert reason.fired == ("left out" in reason.words and "lines" in reason.words and reason.words[0].isdigit())


def test_scored_lines_are_explained_by_what_they_show() -> None:
    """A rule of scores has no patterns to look at: its reason names the features, and the bound of use."""
    weights = {"weights": {"passing": -4.0}, "covariances": {name: {name: 0.0} for name in features.NAMES}}
    rule = replace(RULE, kind="line_score", params=weights)
    text = "\n".join(["begin", *(f"(pass) {word} works as it should" for word in "abcdefghijklmnopqrstuvw"), "closed"])
    (reason,) = explain(replace(FETCH, text=text), RuleSet(rules=(rule,), settings=Settings(minimum_chars=0)), HERE)

    assert reason.fired
    assert "that show passing, prose, alike, beside: used at most 1.8%" in reason.words
