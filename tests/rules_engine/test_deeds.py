"""What asks is told from what is run for what it does."""

from __future__ import annotations

import pytest

from rules_engine import Context, Observation, RuleSet, decide
from rules_engine.alikes import ALIKES
from rules_engine.deeds import asks, rehearses
from rules_engine.engine import shown
from rules_engine.types import Rule, Trigger


@pytest.mark.parametrize(
    ("command", "question"),
    [
        pytest.param("", False, id="nothing is known"),
        pytest.param("make -j4", False, id="a build"),
        pytest.param("pytest -k show", False, id="the name of a test asks nothing"),
        pytest.param("npm install query", False, id="nor does that of a package"),
        pytest.param("python -m unittest list", False, id="nor a module"),
        pytest.param("docker logs api", False, id="a log tells what happened"),
        pytest.param("gh run view 7 --log", False, id="so does one that is viewed"),
        pytest.param("python fetch.py", False, id="a program of the project"),
        pytest.param("./sync.sh", False, id="a script of the project"),
        pytest.param('{"file": "ls"}', False, id="arguments of a tool are no command"),
        pytest.param("docker images", True, id="a table"),
        pytest.param("docker system df -v", True, id="a table behind two words"),
        pytest.param("kubectl -n a get deploy x -o yaml", True, id="a name that sounds like a deed does not hide the question"),
        pytest.param("aws ec2 describe-instances", True, id="a word with what it is about"),
        pytest.param("python manage.py showmigrations", True, id="a word grown together with it"),
        pytest.param("sudo ss -tlnp", True, id="a program that only answers"),
        pytest.param("npm ci && ls -l dist", True, id="a question behind a deed"),
        pytest.param("python3 - <<'E'\nprint(1)\nE", True, id="code written on the spot"),
        pytest.param("node -e 'console.log(1)'", True, id="code on the command line"),
        pytest.param("go test -bench=. ./...", True, id="figures"),
    ],
)  # fmt: skip
def test_a_question_is_told_by_its_command(command: str, question: bool) -> None:
    """By program and first words, not by names further on."""
    assert asks(Observation(key="k", tool="bash", command=command, exit_code=0, text="")) is question


@pytest.mark.parametrize(
    ("tool", "question"),
    [
        ("bash", False),
        ("get_terminal_output", False),
        ("TaskOutput", False),
        ("list_issues", True),
        ("queryRows", True),
        ("execute_program", True),
        ("executeIPythonCell", True),
        ("run_code", True),
    ],
)
def test_a_tool_without_a_command_is_told_by_its_name(tool: str, question: bool) -> None:
    """Those of a shell show what some command printed; code prints what it was written to print."""
    assert asks(Observation(key="k", tool=tool, command="", exit_code=0, text="")) is question


@pytest.mark.parametrize(
    ("command", "rehearsal"),
    [
        pytest.param("", False, id="nothing is known"),
        pytest.param("make install", False, id="a deed"),
        pytest.param("npm run dry-run", False, id="a name"),
        pytest.param("pytest -n 4", False, id="a flag that means something else there"),
        pytest.param("rsync -av --numeric-ids a/ b/", False, id="a long flag with that letter"),
        pytest.param("bazel build query", False, id="a target"),
        pytest.param('{"mode": "--dry-run"}', False, id="arguments of a tool are no command"),
        pytest.param("npm publish --dry-run", True, id="a dry run"),
        pytest.param("kubectl apply --dry-run=server -k .", True, id="one of a kind"),
        pytest.param("cd a && sudo make -n install", True, id="what make would do"),
        pytest.param("rsync -avn --delete a/ b/", True, id="among other letters"),
        pytest.param("apt-get upgrade -s", True, id="what would be installed"),
        pytest.param("pytest --collect-only -q", True, id="what would be tested"),
        pytest.param("bazel cquery //x | head -50", True, id="a query"),
    ],
)
def test_a_rehearsal_is_told_by_its_flags(command: str, rehearsal: bool) -> None:
    """By those that everybody means so, and by those that this program does."""
    assert rehearses(command) is rehearsal


def test_nothing_is_left_out_of_a_rehearsal() -> None:
    """Not by a rule that names its lines, either."""
    text = "\n".join(f"deleting pay/ledger_{n}.py" for n in range(60))
    named = Rule(id="named", kind="line_filter", trigger=Trigger(pattern="rsync"), params={"strip_patterns": ["^del"]})
    for command, omits in (("rsync -av --delete a/ b/", True), ("rsync -avn --delete a/ b/", False)):
        observation = Observation(key="k", tool="bash", command=command, exit_code=0, text=text)
        decision = decide(observation, RuleSet(rules=(*ALIKES, named)), Context(shell=True, chars=10**6))
        assert ("omitted" in shown(text, decision, {})[0]) is omits


def test_answers_are_whole() -> None:
    """Only a rule that names command and lines leaves something out of them."""
    text = "\n".join(f"ready on node_{n}: {n % 30} MB held by job_{n}" for n in range(60))
    named = Rule(id="named", kind="line_filter", trigger=Trigger(pattern="jobs"), params={"strip_patterns": ["^ready"]})
    around = Context(shell=True, chars=10**6)
    seen = {}
    for command in ("./jobs list", "./jobs sync"):
        for rules in (ALIKES, (named,)):
            observation = Observation(key="k", tool="bash", command=command, exit_code=0, text=text)
            decision = decide(observation, RuleSet(rules=rules), around)
            seen[command, rules == ALIKES] = "omitted" in shown(text, decision, {})[0]
    assert seen == {
        ("./jobs list", True): False,
        ("./jobs list", False): True,
        ("./jobs sync", True): True,
        ("./jobs sync", False): True,
    }
