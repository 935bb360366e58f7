"""An edit that fails over lines that the agent had not seen."""

from __future__ import annotations

import json

import pytest

from rules_engine import Result
from rules_engine.signals import edit
from tests.rules_engine.signals.turns import A, B, raw, thinned, turn

FILE = "def load(path):\n    check(path)\n    text = open(path).read()\n    return parse(text)\n\ndef store(path):\n    pass"
SEEN = thinned("docker exec web cat app.py", FILE, {"    check(path)": A, "def store(path):": B})
FAILED = "Error: old_str was not found in app.py"


def editing(old: str, answer: str = FAILED) -> Result:
    """The result of an edit."""
    return raw(json.dumps({"path": "app.py", "old_str": old, "new_str": "x"}), answer, tool="edit")


@pytest.mark.parametrize(
    ("seen", "result"),
    [
        pytest.param(SEEN, editing("def load(path):\n    text = open(path).read()", "Edited app.py."), id="it matched"),
        pytest.param(raw("cat app.py", FILE), editing("def load(path):\n    text ="), id="nothing was left out"),
        pytest.param(SEEN, editing("import os\nimport sys"), id="another file"),
        pytest.param(SEEN, editing("    text = open(path).read()\n    return parse(text)"), id="right as it was read"),
        pytest.param(SEEN, raw("grep -rn load .", "not found"), id="no edit"),
        pytest.param(SEEN, raw('{"old_str": ', FAILED, tool="edit"), id="arguments that do not parse"),
    ],
)
def test_is_no_complaint(seen: Result, result: Result) -> None:
    """An edit fails for many reasons; only old text that runs into a gap is one of ours."""
    assert edit.detect([turn(seen), turn(result)]) == ()


@pytest.mark.parametrize(
    "result",
    [
        pytest.param(editing("def load(path):\n    text = open(path).read()"), id="old text over the gap"),
        pytest.param(editing("def load(path):\n    verify(path)"), id="old text that guesses what is in it"),
        pytest.param(
            raw(
                "apply_patch <<'E'\n*** Begin Patch\n*** Update File: app.py\n@@\n def load(path):\n-    text = open(path).read()\n+    y\n*** End Patch\nE",
                "Failed to find expected lines in app.py",
            ),
            id="a patch",
        ),
    ],
)
def test_blames_the_rule_of_the_gap(result: Result) -> None:
    """And not the one that left out lines elsewhere."""
    (signal,) = edit.detect([turn(SEEN), turn(raw("ls")), turn(result)])

    assert (signal.name, signal.key, signal.rules) == ("edit", SEEN.observation.key, (A,))
    assert signal.evidence == "an edit did not match what was left out of docker"


def test_words_tell_which_rule_of_one_gap() -> None:
    """Old text that names what one rule left out blames that rule alone."""
    seen = thinned(
        "docker exec web cat a",
        "begin here\nnoise_one\nport_8080 = on\nend here",
        {"noise_one": A, "port_8080 = on": B},
    )
    (signal,) = edit.detect([turn(seen), turn(editing("begin here\nport_8080 = off\nend here"))])

    assert signal.rules == (B,)
