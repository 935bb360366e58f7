"""Scenarios: which turn is due, and what it says after what the model was told."""

from __future__ import annotations

import json
import shlex

import pytest

from gateway.scenario import Fault, Scenario, ScenarioError, Turn, load_scenario

LOOK = Turn(text="Look.", shell=("ls -a",))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param("", "not JSON", id="nothing"),
        pytest.param("[]", 'a list "turns"', id="no object"),
        pytest.param('{"turns": []}', "not empty", id="no turns"),
        pytest.param('{"turns": ["x"]}', "turn 0", id="a turn that is no object"),
        pytest.param('{"turns": [{}, {"sell": "ls"}]}', "turn 1 .*'sell'", id="a field that does not exist"),
        pytest.param('{"turns": [{"fault": {"stats": 1}}]}', "turn 0 .*'stats'", id="a fault that does not exist"),
        pytest.param('{"turns": [{"find": "(a"}]}', "turn 0", id="a pattern that is none"),
    ],
)
def test_refused(text: str, problem: str) -> None:
    """A scenario that cannot be played says which turn is wrong."""
    with pytest.raises(ScenarioError, match=problem):
        load_scenario(text)


def test_loads() -> None:
    """One command may stand without its list; all that is missing has a default."""
    turns = [{"text": "Look.", "shell": "ls -a"}, {"shell": ["a", "b"], "fault": {"status": 429, "retry_after": 2}}]
    fault = Fault(status=429, retry_after=2)
    assert load_scenario(json.dumps({"turns": turns})) == Scenario((LOOK, Turn(shell=("a", "b"), fault=fault)))


@pytest.mark.parametrize(
    ("answers", "due"),
    [
        pytest.param(0, 0, id="the first request"),
        pytest.param(1, 1, id="after one answer"),
        pytest.param(5, 1, id="after more answers than there are turns"),
    ],
)
def test_due_turn(answers: int, due: int) -> None:
    """The number of answers that there are decides, so that a retry gets the same turn."""
    assert Scenario((LOOK, Turn(text="Done."))).turn(answers)[0] == due


@pytest.mark.parametrize(
    ("told", "find", "found"),
    [
        pytest.param([], "x", None, id="nothing was told"),
        pytest.param(["a", "b"], "x", None, id="nothing matches"),
        pytest.param(["open a.txt", "open b.txt"], r"open (\S+)", "b.txt", id="the latest"),
        pytest.param(["open a.txt", "nothing"], r"open (\S+)", "a.txt", id="what was told before is known, too"),
        pytest.param(["open a.txt\nopen b.txt"], r"open (\S+)", "b.txt", id="the last match"),
        pytest.param(["open a.txt"], r"\S+\.txt", "a.txt", id="without a group all that matches"),
        pytest.param(["see 'a b'"], "see (.*)", "'a b'", id="what a shell would split"),
    ],
)
def test_reads(told: list[str], find: str, found: str | None) -> None:
    """What is found stands in words as it is and in commands quoted; where nothing is, the turn says so and asks for nothing."""
    turn = Turn(text="It is {found}.", shell=("cat {found}", "ls"), find=find).reads(told)
    if found is None:
        assert (find in turn.text, turn.shell) == (True, ())
    else:
        assert turn.text == f"It is {found}."
        assert (shlex.split(turn.shell[0]), turn.shell[1]) == (["cat", found], "ls")


def test_a_turn_that_does_not_read() -> None:
    """It stays as it is, braces and all."""
    turn = Turn(text="{found}", shell=("echo {found}",))
    assert turn.reads(["found"]) is turn
