"""The rules in use: seeds, a file, and what was imported."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gateway.config import Config, Rewriting
from gateway.errors import ConfigError
from gateway.rules import POOL, load_rules, read_rules, write_rules
from rules_engine import Rule, Settings
from rules_engine.seeds import SEEDS
from rules_engine.types import Trigger

OWN = Rule(
    id="own", kind="line_filter", trigger=Trigger(pattern="cargo"), params={"strip_patterns": ["^x"]}, priority=1
)


def test_without_anything_there_are_the_seeds(tmp_path: Path) -> None:
    """In the order of their priority, with the settings of the configuration."""
    ruleset = load_rules(Config(rules=Settings(minimum_chars=7)), tmp_path)

    assert {rule.id for rule in ruleset.rules} == {rule.id for rule in SEEDS}
    assert [rule.priority for rule in ruleset.rules] == sorted(rule.priority for rule in SEEDS)
    assert ruleset.settings.minimum_chars == 7


def test_the_seeds_can_be_switched_off(tmp_path: Path) -> None:
    """Then there are none."""
    assert load_rules(Config(rewriting=Rewriting(seed_rules=False)), tmp_path).rules == ()


def test_files_add_rules_and_replace_those_of_the_same_name(tmp_path: Path) -> None:
    """What was imported wins over the file of the configuration, and that over the seeds."""
    given, seed = tmp_path / "given.json", SEEDS[0]
    write_rules(given, (OWN, replace(seed, description="from the file")))
    write_rules(tmp_path / POOL, (replace(OWN, description="imported"),))
    rules = {rule.id: rule for rule in load_rules(Config(rewriting=Rewriting(rules_file=str(given))), tmp_path).rules}

    assert len(rules) == len(SEEDS) + 1
    assert rules["own"].description == "imported"
    assert rules[seed.id].description == "from the file"


def test_a_file_that_is_named_must_be_there(tmp_path: Path) -> None:
    """Its absence is no empty pool."""
    with pytest.raises(ConfigError, match=r"missing\.json: cannot be read"):
        load_rules(Config(rewriting=Rewriting(rules_file=str(tmp_path / "missing.json"))), tmp_path)


@pytest.mark.parametrize("text", [b"", b"{", b"\xff", b'[{"rule_id": 4}]', b"4"])
def test_a_file_that_cannot_be_used_is_named(text: bytes, tmp_path: Path) -> None:
    """With what is wrong in it."""
    (tmp_path / POOL).write_bytes(text)
    with pytest.raises(ConfigError, match=POOL):
        load_rules(Config(), tmp_path)


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    """Nothing else is left beside it."""
    for rules in ((OWN,), (OWN, SEEDS[0])):
        write_rules(tmp_path / POOL, rules)
        assert {rule.id for rule in read_rules(tmp_path / POOL)} == {rule.id for rule in rules}
    assert [path.name for path in tmp_path.iterdir()] == [POOL]
