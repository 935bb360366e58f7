"""Omitted lines that come back by another way and are used."""

from __future__ import annotations

import pytest

from rules_engine import Turn
from rules_engine.signals import reappeared
from tests.rules_engine.signals.turns import LOG, NEEDED, NOISE, A, B, raw, thinned, turn

SEEN = thinned("make", LOG, {NOISE: A, NEEDED: B})
BACK = raw("python3 find.py", f"found: 2\n{NOISE}\n{NEEDED}")
USES = Turn(said="The digest is 9f3ac1d2e0.")


@pytest.mark.parametrize(
    "turns",
    [
        pytest.param([turn(SEEN), USES], id="it came from nowhere"),
        pytest.param([turn(SEEN), turn(BACK), Turn(said="Good.")], id="it came back and nobody used it"),
        pytest.param([turn(raw("make", LOG)), turn(BACK), USES], id="it had been shown"),
        pytest.param([turn(BACK), turn(SEEN), USES], id="it was known before"),
        pytest.param([turn(SEEN, said="9f3ac1d2e0"), turn(BACK), USES], id="it had been said before"),
        pytest.param([turn(SEEN), turn(raw("ls", "9f3ac1d2e0")), turn(BACK), USES], id="it stands elsewhere too"),
        pytest.param(
            [turn(SEEN), turn(raw("sed -i s/a/b/ x.c")), turn(raw("make all", LOG)), USES], id="run again after an edit"
        ),
        pytest.param([turn(SEEN), turn(BACK), *[turn(raw("ls"))] * 5, USES], id="used much later"),
        pytest.param([turn(SEEN), *[turn(raw("ls"))] * 20, turn(BACK), USES], id="left out long ago"),
        pytest.param([turn(SEEN), turn(raw("cat x", "9f3ac1d2e0 = other")), USES], id="the word in another line"),
    ],
)
def test_is_no_complaint(turns: list[Turn]) -> None:
    """Coming back alone says nothing, nor does use of what the agent has from elsewhere."""
    assert reappeared.detect(turns) == ()


@pytest.mark.parametrize(
    "between",
    [
        pytest.param([turn(BACK)], id="by a script"),
        pytest.param([turn(raw("ls", "x_9f3ac1d2e0_y")), turn(BACK)], id="while a longer word was known"),
        pytest.param(
            [turn(raw("sed -i s/a/b/ x.c")), turn(raw("grep -n digest out.txt", f"3:{NEEDED}"))],
            id="looked up after an edit",
        ),
        pytest.param([turn(raw("ls")), turn(raw("cut -c1-40 log", NEEDED[9:])), turn(raw("ls"))], id="in part"),
        pytest.param([turn(raw("echo recall:bbbbbb", "recall:bbbbbb"))], id="by a recall"),
    ],
)
def test_blames_the_rule_that_left_it_out(between: list[Turn]) -> None:
    """And not the other one of the same result."""
    (signal,) = reappeared.detect([turn(SEEN), *between, USES])

    assert (signal.name, signal.key, signal.rules) == ("reappeared", SEEN.observation.key, (B,))
    assert "9f3ac1d2e0" not in signal.evidence
