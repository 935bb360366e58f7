"""Words that ask for more of an output."""

from __future__ import annotations

import json

import pytest

from rules_engine import Turn
from rules_engine.signals import asked
from tests.rules_engine.signals.turns import LOG, NEEDED, NOISE, A, B, raw, thinned, turn

SEEN = thinned("make all", LOG, {NOISE: A, NEEDED: B})
ASKS = "I need to see the full output."


@pytest.mark.parametrize(
    "turns",
    [
        pytest.param([turn(SEEN), turn(raw("ls"), said="The output looks right.")], id="no wish"),
        pytest.param([turn(SEEN), turn(raw("ls"), said="I insert the missing line after line 23.")], id="about a file"),
        pytest.param([turn(raw("make all", LOG)), turn(raw("ls"), said=ASKS)], id="nothing was left out"),
        pytest.param(
            [turn(SEEN), *[turn(raw("ls"))] * 5, turn(raw("ls"), said=ASKS)], id="long ago, and another target"
        ),
        pytest.param([turn(SEEN), turn(raw("echo 'I need to see the full output'"))], id="in a command"),
        pytest.param(
            [turn(SEEN), Turn(said=ASKS, results=(raw(json.dumps({"content": ASKS}), tool="write"),))],
            id="in a call",
        ),
        pytest.param([turn(SEEN), Turn(said="```bash\necho the output was truncated\n```")], id="in a block of code"),
        pytest.param(
            [turn(thinned("make all", f"{LOG}\n[output truncated]", {NOISE: A})), turn(raw("ls"), said=ASKS)],
            id="where the tool had cut it itself",
        ),
    ],
)
def test_is_no_complaint(turns: list[Turn]) -> None:
    """Only words of the agent's own, about a result with gaps."""
    assert asked.detect(turns) == ()


@pytest.mark.parametrize(
    "said",
    [
        ASKS,
        "The output was truncated before the part that I need.",
        "Let me view the complete log.",
        "What I need is not in that output.",
        "I can't see the rest of the lines.",
        "need_full_output",
        "Die Ausgabe ist abgeschnitten.",
        "Je veux la sortie complète.",
        "输出被截断了。",
        "全体が必要です、出力が省略されています。",
    ],
)
def test_asks_in_many_words(said: str) -> None:
    """One signal, about the newest result with gaps."""
    (signal,) = asked.detect([turn(SEEN), turn(raw("ls")), turn(raw("pwd"), said=said)])

    assert (signal.name, signal.key, signal.rules) == ("asked", SEEN.observation.key, (A, B))
    assert signal.evidence == "the agent asked for more of the output of make"


@pytest.mark.parametrize(
    "newest",
    [
        pytest.param(turn(raw("make all -n | grep digest", NEEDED), said=ASKS), id="by what it runs"),
        pytest.param(turn(raw("pwd"), said=f"{ASKS} I look for target_17."), id="by what it names"),
    ],
)
def test_the_rule_is_told(newest: Turn) -> None:
    """Where lines or words lead to one of the rules, it alone is blamed."""
    (signal,) = asked.detect([turn(SEEN), newest])

    assert signal.rules == (B,)


def test_a_result_tried_again_is_meant_however_many_steps_later() -> None:
    """The command says what the words are about."""
    later = [turn(SEEN), *[turn(raw("ls"))] * 8, turn(raw("make all | tail", "nothing to do"), said=ASKS)]

    assert [signal.key for signal in asked.detect(later)] == [SEEN.observation.key]
