"""What holds of every result, shown by results in which it does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rules_engine import invariants
from rules_engine.critical import Readings
from rules_engine.draft import Draft
from rules_engine.types import Applied, Nature, Observation, Omission

STEPS = [f"step {n} of the build took a while" for n in range(3)]
RAW = ["start of the build", *STEPS, "error: the disk is full", "end"]
GOOD = ["start of the build", "[3 lines omitted: echo recall:abcdef]", "error: the disk is full", "end"]
OMISSION = Omission(id="abcdef", spans=((19, 118),), lines=3)


def breach(result: list[str], *omissions: Omission, raw: str = "\n".join(RAW), sort: Nature = "terminal") -> str | None:
    """What is wrong with a result."""
    observation = Observation(key="key", tool="bash", command="make", exit_code=None, text=raw, nature=sort)
    draft = Draft(text="\n".join(result), script=(), omissions=omissions)
    return invariants.breach(observation, ((Draft.begin(raw), draft),), Readings("make"))


def test_a_result_that_is_right() -> None:
    """Lines of the input in order, and marks that count."""
    assert breach(GOOD, OMISSION) is None


@pytest.mark.parametrize(
    ("result", "omissions", "fault"),
    [
        pytest.param([*RAW, "more"], (), "not shorter", id="longer than the input"),
        pytest.param(RAW, (), "not shorter", id="the input itself"),
        pytest.param(GOOD[:3], (OMISSION,), "without a mark", id="a line dropped without a mark"),
        pytest.param(["Start", *GOOD[1:]], (OMISSION,), "not from the input", id="a line that was changed"),
        pytest.param([GOOD[0], *GOOD[2:]], (OMISSION,), "not from the input", id="an omission without its mark"),
        pytest.param([GOOD[1], GOOD[0], *GOOD[2:]], (OMISSION,), "not from the input", id="lines in another order"),
        pytest.param(GOOD, (replace(OMISSION, lines=4),), "counts wrongly", id="a mark with a wrong count"),
        pytest.param(
            ["start of the build", "[4 lines omitted: echo recall:abcdef]", "end"],
            (replace(OMISSION, lines=4),),
            "state a failure",
            id="a failure that is gone",
        ),
    ],
)
def test_a_breach_is_named(result: list[str], omissions: tuple[Omission, ...], fault: str) -> None:
    """In words for the audit."""
    found = breach(result, *omissions)

    assert found is not None
    assert fault in found


def test_json_stays_json() -> None:
    """A reader that parses it must still be able to."""
    raw = "[\n" + ",\n".join(f'  "value {n}"' for n in range(30)) + "\n]"
    mark = Omission(id="abcdef", spans=((2, 400),), lines=30)

    assert breach(["[", "[30 lines omitted: echo recall:abcdef]", "]"], mark, raw=raw, sort="read") is not None
    assert breach([raw.replace("\n", "")], raw=raw, sort="structured") is None


@pytest.mark.parametrize(
    ("text", "is_json"),
    [
        pytest.param("", False, id="nothing"),
        pytest.param("12", False, id="a number"),
        pytest.param("[12 lines omitted]", False, id="only brackets"),
        pytest.param("[" * 99_999 + "]" * 99_999, False, id="nested too deep"),
        pytest.param(' {"a": 1}\n', True, id="an object, with blanks around"),
        pytest.param("[]", True, id="an array"),
    ],
)
def test_is_json(text: str, is_json: bool) -> None:
    """One object or array, whole."""
    assert invariants.is_json(text) == is_json


def test_a_kind_leaves_its_own_result_alone() -> None:
    """What would be edited again was not finished, and two gateways in a row would differ."""
    raw = "     1\tone\n     2\ttwo\n     3\tthree\n" + "x" * 99
    draft = Draft.begin(raw).step([(len(raw) - 99, len(raw), ())])
    credited = draft.credit(("gutter", 1), "lossless", 99)
    observation = Observation(key="key", tool="bash", command="cat -n a", exit_code=None, text=raw, nature="read")

    assert invariants.breach(observation, ((draft, draft),), Readings("")) is None
    assert invariants.breach(observation, ((credited, credited),), Readings("")) == "gutter would edit its result again"
    assert credited.applied == (Applied(rule=("gutter", 1), loss="lossless", removed=99),)
