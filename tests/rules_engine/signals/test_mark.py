"""A mark's text in what the agent writes."""

from __future__ import annotations

import pytest

from rules_engine import Turn
from rules_engine.signals import mark
from tests.rules_engine.signals.turns import LOG, NEEDED, NOISE, A, B, raw, thinned, turn

SEEN = thinned("make", LOG, {NOISE: A, NEEDED: B})


@pytest.mark.parametrize(
    ("said", "result"),
    [
        pytest.param("Done.", SEEN, id="nothing of it"),
        pytest.param("echo recall:aaaaaa", SEEN, id="the id alone, to ask for the text"),
        pytest.param("[1 line omitted: echo recall:eeeeee]", SEEN, id="a mark that was never shown"),
        pytest.param("[1 line omitted: echo recall:aaaaaa]", raw("make", LOG), id="where nothing was left out"),
    ],
)
def test_is_no_complaint(said: str, result: object) -> None:
    """Only a mark that stood in a result and is written again is one."""
    assert mark.detect([turn(result), Turn(said=said)]) == ()  # type: ignore[arg-type]


def test_blames_the_rules_behind_the_mark() -> None:
    """And none whose mark was not copied, however long ago it was seen."""
    old = [turn(SEEN), *[turn(raw("ls"))] * 40]
    (signal,) = mark.detect([*old, Turn(said="cat > report <<E\n[1 line omitted: echo recall:bbbbbb]\nE")])

    assert (signal.name, signal.key, signal.rules) == ("mark", SEEN.observation.key, (B,))
    assert signal.evidence == "the mark of recall:bbbbbb stands in what the agent wrote"


def test_each_rule_behind_one_mark_is_blamed_for_itself() -> None:
    """The lines of all of them are missing from what was written."""
    both = thinned("make", f"begin\n{NOISE}\n{NEEDED}\nend", {NOISE: A, NEEDED: B})
    found = mark.detect([turn(both), Turn(said="[2 lines omitted: echo recall:aaaaaa]")])

    assert [signal.rules for signal in found] == [(A,), (B,)]
