"""What was left out of results, and whether it stands in a later text."""

from __future__ import annotations

import pytest

from rules_engine import Turn
from rules_engine.evolution.gaps import Look, blamed, forwarded, lines_missed, looks, telling
from rules_engine.types import Applied, Form, Omission, Result, RuleRef
from tests.rules_engine.signals.turns import LOG, NEEDED, NOISE, A, B, raw, thinned, turn

SEEN = thinned("make", LOG, {NOISE: A, NEEDED: B})


def look(text: str = LOG, **dropped: RuleRef) -> Look:
    """The newest look."""
    return looks([turn(thinned("make", text, {NOISE: A, NEEDED: B, **dropped})), Turn(said="")])[0]


def test_results_that_were_forwarded_whole_are_no_looks() -> None:
    """Nor is what the newest turn brought, which the agent has not seen yet."""
    assert looks([turn(raw("make", LOG)), turn(SEEN)]) == []


def test_pointers_are_no_gaps() -> None:
    """What they stand for is shown elsewhere, and no rule left it out."""
    omission = Omission(id="aaaaaa", spans=((0, 5),), lines=1, rules=(("shown", 1),))
    applied = Applied(rule=("shown", 1), loss="lossless", removed=9)
    form = Form(script=((0, 5),), digest="", applied=(applied,), omissions=(omission,))

    assert looks([turn(Result(observation=SEEN.observation, form=form)), Turn(said="")]) == []


def test_the_newest_look_is_first() -> None:
    """And one that is too old is none."""
    other = thinned("make all", LOG, {NOISE: A})

    assert [one.at for one in looks([turn(SEEN), turn(other), Turn(said="")])] == [1, 0]
    assert [one.at for one in looks([turn(SEEN), turn(other), Turn(said="")], 1)] == [1]


def test_each_rule_has_its_part_of_a_mark() -> None:
    """So that the line that was missed tells whose it was."""
    text = f"begin\n{NOISE}\n{NEEDED}\n{NOISE}\nend"

    assert [(gap.rules, gap.text) for gap in look(text).gaps] == [
        ((A,), f"{NOISE}\n"),
        ((B,), f"{NEEDED}\n"),
        ((A,), NOISE),
    ]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("stage one begins\nended", id="what was shown"),
        pytest.param("target_99 digest 000", id="other lines"),
        pytest.param("}\n  \nok", id="lines that say nothing"),
    ],
)
def test_nothing_was_missed(text: str) -> None:
    """Only lines that say something, and were not shown."""
    assert look().missed(text) == {}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(NEEDED, id="the line"),
        pytest.param(f"  4:{NEEDED}  \n stage one begins", id="with its number and blanks, among others"),
        pytest.param("digest 9f3ac1d2e0", id="a part of it"),
    ],
)
def test_what_was_missed_tells_the_rule(text: str) -> None:
    """By the gap in which the line stood."""
    missed = look().missed(text)

    assert blamed(missed) == (B,)
    assert list(missed.values()) == [1]


def test_words_tell_the_gap() -> None:
    """If they are not shown anyhow."""
    hidden, named = look(), look(f"{LOG} of target_17")

    assert blamed(hidden.used(hidden.gaps, frozenset({"target_17", "elsewhere_1"}))) == (B,)
    assert hidden.used(hidden.gaps, frozenset({"elsewhere_1"})) == ()
    assert named.used(named.gaps, frozenset({"target_17"})) == ()


def test_a_line_that_is_shown_elsewhere_was_not_missed() -> None:
    """With another number before it, say."""
    assert look(f"{LOG}\n9: {NEEDED}").missed(NEEDED) == {}


def test_times_are_left_out_of_lines() -> None:
    """A line is the same line when it took longer."""
    assert telling("built x in 3.4s at 12:00:01") == telling("  built x in 12s at 09:59:59")
    assert telling("built 3 of 4") != telling("built 4 of 4")


def test_a_recall_was_answered_with_what_was_left_out() -> None:
    """The raw text of its result holds the ids only."""
    answer = raw("echo recall:bbbbbb", "recall:bbbbbb")

    assert NEEDED in forwarded(answer, [turn(SEEN)])
    assert NEEDED not in forwarded(SEEN)
    assert forwarded(raw("make", LOG)) == LOG


@pytest.mark.parametrize(
    ("newest", "lines"),
    [
        pytest.param(turn(raw("ls", "x.c")), (), id="nothing of it"),
        pytest.param(turn(raw("make | grep digest", NEEDED)), (NEEDED,), id="what came back"),
        pytest.param(Turn(said="Where is target_17?"), (NEEDED,), id="what is named"),
    ],
)
def test_the_lines_that_were_missed_can_be_asked_for(newest: Turn, lines: tuple[str, ...]) -> None:
    """They are what a softer rule has to keep."""
    assert lines_missed([turn(SEEN), newest], SEEN.observation.key, B) == lines
