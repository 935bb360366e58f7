"""The demo: what a newcomer sees, without a key and without a network."""

from __future__ import annotations

import json
import re
from pathlib import Path

from gateway.demo import recorded, scenario_of
from tests.commandline import invoke


def test_shows_accounts_and_a_diff(demo: tuple[Path, str]) -> None:
    """Tokens and money are less, every request was answered, and one rewrite is shown before and after."""
    _, out = demo
    assert "Requests   10 requests in 1 session, 0 retries\n           10 completed" in out
    share = re.search(r"forwarded \(−([\d.]+) %\)", out)
    money = re.search(r"as forwarded \(−([\d.]+) %\)", out)
    assert share is not None
    assert money is not None
    assert float(share[1]) >= 10
    assert float(money[1]) >= 10
    assert "\n--- before\n+++ after\n" in out
    assert re.search(r"\n  … \d+ more lines of the diff …\n", out)
    assert re.search(r'\n\+\[\d+ lines that begin with ".*", most given without it:\]\n', out)
    assert "\x1b" not in out
    assert max(map(len, out.partition("--- before")[2].splitlines())) <= 80
    assert out.index("+++ after") < out.index("Requests") < out.index("taco-gateway run -- AGENT")
    assert "broken prefix" not in out


def test_what_is_shown_can_be_asked_for_again(data: Path) -> None:
    """With a folder everything stays on record."""
    assert json.loads(invoke("stats", "--json", "--data", data).stdout)["requests"] == 10


def test_the_recording_is_small_and_names_nobody() -> None:
    """A session of a handful of turns, in which all that was said and printed is ours."""
    session = recorded()
    text = json.dumps(session.messages)
    assert len(text) < 60_000
    assert not re.search(r"/(home|root|Users|tmp)/", text)
    assert [message["role"] for message in session.messages[:2]] == ["system", "user"]


def test_the_scripted_model_says_what_the_model_said() -> None:
    """Each request of the replay gets the recorded answer, so that the next one continues it."""
    session = recorded()
    scenario = scenario_of(session)
    assert len(scenario.turns) == len(session.turns)
    for at, turn in zip(session.turns, scenario.turns, strict=True):
        assert turn.text == session.messages[at]["content"]
        assert "```mswea_bash_command\n" in turn.text
