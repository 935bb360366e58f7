"""`rules`: what runs, and how a pool gets in and out."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.config import Config
from gateway.evolving.rules import change_pool
from rules_engine.evolution.pool import PoolEvent
from rules_engine.seeds import SEEDS
from tests.commandline import invoke

MINE = {"rule_id": "mine", "trigger_regex": "^make", "strip_patterns": ["^gcc"]}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(None, "cannot be read", id="no such file"),
        pytest.param("{", "this is not JSON", id="broken JSON"),
        pytest.param(json.dumps([MINE | {"trigger_regex": "("}]), "rules[0].", id="a pattern that does not compile"),
    ],
)
def test_a_pool_that_cannot_be_used(tmp_path: Path, text: str | None, said: str) -> None:
    """Nothing is imported of a pool with an error, and the error names file and field."""
    source = tmp_path / "pool.json"
    if text is not None:
        source.write_text(text)
    result = invoke("rules", "import", source, "--data", tmp_path / "data")
    assert result.exit_code == 2
    assert f"{source}: " in result.stderr
    assert said in result.stderr
    assert not (tmp_path / "data").exists()


def test_an_unknown_rule(tmp_path: Path) -> None:
    """An id that is not in use is refused."""
    result = invoke("rules", "show", "nix", "--data", tmp_path)
    assert result.exit_code == 2
    assert "no rule has the id nix" in result.stderr


def test_a_broken_configuration(tmp_path: Path) -> None:
    """Rules depend on the configuration, so its errors are told."""
    (tmp_path / "config.yaml").write_text("rules: 3\n")
    result = invoke("rules", "list", "--data", tmp_path)
    assert result.exit_code == 2
    assert "config.yaml, line 1" in result.stderr


def test_list(tmp_path: Path) -> None:
    """Lossless kinds and starting rules, with what is switched off."""
    (tmp_path / "config.yaml").write_text("rules:\n  disabled: [gutter, pip_install]\n")
    rows = {
        line.split()[0]: line.split()[1:] for line in invoke("rules", "list", "--data", tmp_path).stdout.splitlines()
    }
    assert rows["gutter"][:1] + rows["gutter"][2:3] == ["lossless", "off"]
    assert rows["shown"][2] == "on"
    assert rows["pip_install"] == ["line_filter", "1", "off", "0.80", "0", "0", "seed"]
    assert rows["git_transfer"][2] == "live"
    assert max(map(len, invoke("rules", "list", "--all", "--data", tmp_path).stdout.splitlines())) <= 80


def test_show(tmp_path: Path) -> None:
    """A rule is shown as the JSON that can be imported, a kind by what it does."""
    shown = json.loads(invoke("rules", "show", "pip_install", "--data", tmp_path).stdout)
    assert shown["rule_id"] == "pip_install"
    assert "line number" in invoke("rules", "show", "gutter", "--data", tmp_path).stdout
    assert "pointer" in invoke("rules", "show", "shown", "--data", tmp_path).stdout


def test_import_and_export(tmp_path: Path) -> None:
    """What goes in comes out; a rule of the same id takes the place of the other, and others stay."""
    data = tmp_path / "data"
    (tmp_path / "one.json").write_text(json.dumps([MINE, MINE | {"rule_id": "other"}]))
    (tmp_path / "two.json").write_text(json.dumps([MINE | {"priority": 7}]))
    first = invoke("rules", "import", tmp_path / "one.json", "--data", data)
    second = invoke("rules", "import", tmp_path / "two.json", "--data", data)
    assert first.stdout.startswith("2 rules imported, 0 of them in the place of others.")
    assert second.stdout.startswith("1 rule imported, 1 of them in the place of others.")
    pool = tmp_path / "pool.json"
    assert invoke("rules", "export", "-o", pool, "--data", data).stdout == ""
    rules = {rule["rule_id"]: rule for rule in json.loads(pool.read_text())["general"]}
    assert rules["mine"]["priority"] == 7
    assert {"other", "pip_install"} <= rules.keys()
    assert invoke("rules", "import", pool, "--data", tmp_path / "elsewhere").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(("disable", "nix"), "no rule has the id nix", id="no such rule"),
        pytest.param(("disable", "gutter"), "gutter is a lossless kind and no rule", id="a kind"),
        pytest.param(("retire", "shown"), "shown is a lossless kind and no rule", id="pointers"),
        pytest.param(("rollback", "pip_install@7"), "pip_install has no version 7; it has 1", id="no such version"),
        pytest.param(("diff", "pip_install"), "came from no other rule", id="nothing to compare with"),
    ],
)
def test_what_cannot_be_done(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    """It is refused with what there is instead, and nothing changes."""
    result = invoke("rules", *arguments, "--data", tmp_path)
    assert result.exit_code == 2
    assert said in result.stderr
    assert "live" in _stage(tmp_path, "pip_install")


def test_the_operators_hand(tmp_path: Path) -> None:
    """A rule is switched off, on again, changed, compared, rolled back and retired; each step holds for the next call."""

    def rules(*arguments: str) -> str:
        result = invoke("rules", *arguments, "--data", tmp_path)
        assert result.exit_code == 0, result.output
        return result.stdout

    rules("disable", "pip_install")
    assert _stage(tmp_path, "pip_install") == "disabled"
    rules("enable", "pip_install")
    assert _stage(tmp_path, "pip_install") == "live"
    for number, priority in enumerate((5, 7)):
        source = tmp_path / f"{number}.json"
        source.write_text(json.dumps([MINE | {"priority": priority}]))
        rules("import", str(source))
    assert '-  "priority": 5' in rules("diff", "mine@2", "mine@1")
    assert json.loads(rules("show", "mine"))["priority"] == 7
    rules("rollback", "mine@1")
    assert _stage(tmp_path, "mine") == "live"
    assert json.loads(rules("export"))["general"][0]["priority"] == 5
    rules("retire", "mine@1", "--reason", "no use")
    assert _stage(tmp_path, "mine") == ""
    shown = invoke("rules", "show", "mine@1", "--data", tmp_path)
    assert shown.stderr == "retired: no use\n"


async def _try(data: Path, stage: str) -> None:
    """Bring a rule in for trial, as the gateway does, and as far as a stage."""
    rule = replace(SEEDS[0], id="tried", params={"strip_patterns": ["^tried "]})
    events = [PoolEvent(name="proposed", rule=rule), PoolEvent(name="admitted", ref=("tried", 1))]
    if stage == "canary":
        events.append(PoolEvent(name="promoted", ref=("tried", 1), data={"stage": stage}))
    await change_pool(Config(), data, lambda pool: events)


@pytest.mark.parametrize(
    ("stage", "off", "said"),
    [
        pytest.param("shadow", "", "in trial, not applied yet", id="in shadow"),
        pytest.param("canary", "", "in trial, in some sessions", id="in some sessions"),
        pytest.param("canary", "tried", "off, as it stands in `disabled` under `rules`", id="off in the configuration"),
    ],
)
def test_a_rule_that_is_enabled_is_said_to_be_what_it_is(tmp_path: Path, stage: str, off: str, said: str) -> None:
    """Who enables a rule that is not in use for all of that is told why."""
    (tmp_path / "config.yaml").write_text(f"rules:\n  disabled: [{off}]\n")
    asyncio.run(_try(tmp_path, stage))
    assert invoke("rules", "disable", "tried", "--data", tmp_path).stdout.startswith("tried is off.")
    assert invoke("rules", "enable", "tried", "--data", tmp_path).stdout.startswith(f"tried is {said}")
    assert _stage(tmp_path, "tried") == ("off" if off else stage)


def test_a_rule_that_is_rolled_back_is_said_to_be_what_it_is(tmp_path: Path) -> None:
    """It is on, unless the configuration has it off."""
    rolled = "rules", "rollback", "pip_install@1", "--data", tmp_path
    assert invoke(*rolled).stdout.startswith("pip_install@1 is on, and no later version of it is in use.")
    (tmp_path / "config.yaml").write_text("rules:\n  disabled: [pip_install]\n")
    assert invoke(*rolled).stdout.startswith("pip_install@1 is off, as it stands in `disabled` under `rules`")


AHEAD = 86_400.0
STAGES = {"disable": "disabled", "enable": "live", "retire": "", "rollback": "live"}
"""What is done to a rule by hand, and the stage that it has then."""


@pytest.mark.parametrize("last", STAGES)
@pytest.mark.parametrize("first", STAGES)
def test_the_last_hand_counts_whatever_the_clock_said_at_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str, last: str
) -> None:
    """A clock that was ahead, or another machine's, does not make a rule deaf to its operator."""

    def rules(step: str, version: int) -> None:
        assert invoke("rules", step, f"mine@{version}", "--data", tmp_path).exit_code == 0

    for number in (1, 2):
        (tmp_path / "pool.json").write_text(json.dumps([MINE | {"priority": number}]))
        assert invoke("rules", "import", tmp_path / "pool.json", "--data", tmp_path).exit_code == 0
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + AHEAD)
    rules(first, 2)
    monkeypatch.setattr(time, "time", lambda: now)
    rules(last, 2)
    assert _stage(tmp_path, "mine", "2") == STAGES[last]
    rules("rollback", 1)
    assert (_stage(tmp_path, "mine", "1"), _stage(tmp_path, "mine", "2")) == ("live", "")


def test_an_import_counts_whatever_the_clock_said_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that was switched off is in use when it is brought in again."""
    (tmp_path / "pool.json").write_text(json.dumps([MINE]))
    now = time.time()
    for ahead, arguments in ((0, ("import", "pool.json")), (AHEAD, ("disable", "mine")), (0, ("import", "pool.json"))):
        monkeypatch.setattr(time, "time", lambda ahead=ahead: now + ahead)
        words = [tmp_path / word if word == "pool.json" else word for word in arguments]
        assert invoke("rules", *words, "--data", tmp_path).exit_code == 0
    assert _stage(tmp_path, "mine") == "live"


def _stage(data: Path, name: str, version: str = "") -> str:
    rows = [line.split() for line in invoke("rules", "list", "--data", data).stdout.splitlines()]
    return next((row[3] for row in rows if row[0] == name and version in ("", row[2])), "")
