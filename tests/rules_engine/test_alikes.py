"""The rules for lines that are alike: what they are for, and what is none of their business."""

from __future__ import annotations

import pytest

from rules_engine import Context, Kept, Observation, RuleSet, decide, marks
from rules_engine.alikes import ALIKES
from rules_engine.deeds import is_deed, stamped
from rules_engine.engine import shown
from rules_engine.kinds import KINDS
from rules_engine.scan import compile_trigger

STEPS = [f"step {n} of the plan took {n % 30} ms" for n in range(60)]
EVENTS = [f"2026-04-17T10:{n:02d}:00Z INFO worker {n % 4} ran job_{n}" for n in range(60)]


def left(command: str, lines: list[str], exit_code: int = 0) -> list[str]:
    """The lines that the model sees, without marks."""
    text = "\n".join(lines)
    observation = Observation(key="k", tool="bash", command=command, exit_code=exit_code, text=text)
    decision = decide(observation, RuleSet(rules=ALIKES), Context(shell=True, chars=10**6))
    assert not (isinstance(decision, Kept) and decision.reason in ("failed", "invariant")), decision
    return [line for line in shown(text, decision, {})[0].split("\n") if not marks.is_mark(line)]


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        pytest.param("python3 - <<'E'\nprint(1)\nE", STEPS, id="code written on the spot prints what it is for"),
        pytest.param("ls -la", STEPS, id="a listing"),
        pytest.param("psql -c 'select 1'", STEPS, id="a table"),
        pytest.param("cat log", EVENTS, id="a file that is read"),
        pytest.param("grep -n INFO log", EVENTS, id="a search"),
        pytest.param("make", STEPS[:14], id="few lines"),
        pytest.param("./run.sh", STEPS[:39], id="few lines of a script, which may be what it was run for"),
        pytest.param("make -v", [f"target_{n} done in {n} s" for n in range(60)], id="each item was asked for"),
        pytest.param("npm run lint", [f"src/a_{n}.ts:{n}:1 warning x_{n} is never used" for n in range(60)], id="findings"),
        pytest.param("make", [f"src/a_{n}.c:{n}:1: warning: unused x_{n}" for n in range(60)], id="warnings, and nothing worse"),
        pytest.param("make", [f"src/a_{n}.c:{n}:1: error: unknown x_{n}" for n in range(60)], id="errors"),
    ],
)  # fmt: skip
def test_these_stay_whole(command: str, lines: list[str]) -> None:
    """All lines are there."""
    told = left(command, lines)
    assert set(lines) - set(told) == set() or "\n".join(told).count("src/a_") >= 59


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        pytest.param("make", STEPS, id="a build"),
        pytest.param("npx jest", STEPS, id="tests"),
        pytest.param("./run.sh", STEPS, id="a script"),
        pytest.param("docker logs web", EVENTS, id="a log"),
        pytest.param("npm test", [f"PASS packages/core/a_{n}.test.ts" for n in range(60)], id="what passed"),
    ],
)
def test_of_these_a_few_are_enough(command: str, lines: list[str]) -> None:
    """What stands out of them stays, and the first of each kind."""
    news = "worker lost its lease, giving up"
    told = left(command, [*lines[:30], news, *lines[30:]])
    assert news in told
    assert len(told) <= 14


def test_beside_a_failure_warnings_are_few_and_the_failure_is_whole() -> None:
    """The first of a form and the last tell what the others are like."""
    warnings = [f"src/a_{n}.c:{n}:1: warning: unused x_{n}" for n in range(60)]
    failure = ["src/b.c:7:3: error: unknown type", "    7 |   foo_t x;", "      |   ^~~~~"]
    told = left("make", [*warnings[:30], *failure, *warnings[30:]], 2)
    assert [line for line in told if line in failure] == failure
    assert len(told) <= 15


@pytest.mark.parametrize("rule", ALIKES, ids=lambda rule: rule.id)
def test_the_rules_can_be_used(rule: object) -> None:
    """Pattern and params hold."""
    assert rule in ALIKES
    for one in ALIKES:
        assert compile_trigger(one.trigger.pattern)
        assert KINDS[one.kind].parse(one.params)


@pytest.mark.parametrize(
    ("command", "deed"),
    [
        ("ls build", False),
        ("git log --stat", False),
        ("docker ps", False),
        ("npm ls", False),
        ("cargo clippy && make", False),
        ("cat make.log", False),
        ("make -j4", True),
        ("cd a && npx jest --ci", True),
        ("python3 -m pytest -q", True),
        ("docker compose run app pytest", True),
        ("pnpm --filter core test", True),
        ("npm i -g a", True),
        ("swift build", True),
    ],
)
def test_deeds_are_told_from_questions(command: str, deed: bool) -> None:
    """By what the command names, wherever in it that stands."""
    assert is_deed(command) is deed


LOGS = [
    "10:00:01 up",
    "[10:00:01] up",
    "2026-04-17 10:00:01 up",
    "26/04/17 10:00:01 INFO up",
    "04-17 10:00:01.123 D/up",
    "Apr  7 10:00:01 host up",
    "I0417 10:00:01.123 12 a.go:3] up",
    "INFO 2026-04-17 10:00:01 up",
    "[WARN] 10:00:01 up",
    "api-1  | 2026-04-17T10:00:01Z up",
    "10.0.0.1 - - [17/Apr/2026:10:00:01 +0000] up",
    "[  199.100001] usb up",
]


def test_lines_of_logs_begin_with_a_time() -> None:
    """In the forms that are common, perhaps behind a service or a level."""
    others = ["up at 10:00:01", "drwx 10:00:01", "src/a.py:10:00:01", "INFO up", "[19.5] up", "a | b"]
    assert stamped([*others, *LOGS]) == frozenset(range(len(others), len(others) + len(LOGS)))
