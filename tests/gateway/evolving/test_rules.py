"""The rules that a gateway brings along, and what its data folder makes of them."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.config import Config, Rewriting
from gateway.errors import ConfigError
from gateway.evolving.pools import SHARED
from gateway.evolving.rules import POOL, all_live, built_in, change_pool, read_pools
from memory import StoreError
from rules_engine import Rule, Settings
from rules_engine.evolution.pool import PoolEvent, imports
from rules_engine.seeds import SEEDS
from rules_engine.taco import dump
from rules_engine.types import Trigger

OWN = Rule(
    id="own", kind="line_filter", trigger=Trigger(pattern="cargo"), params={"strip_patterns": ["^x"]}, priority=1
)
PLAIN = Config(rewriting=Rewriting(shipped_rules=False))


async def test_without_anything_there_are_the_seeds(tmp_path: Path) -> None:
    """In the order of their priority, with the settings of the configuration; nothing is made in the folder."""
    config = replace(PLAIN, rules=Settings(minimum_chars=7))
    ruleset = all_live(await read_pools(config, tmp_path), config)
    assert {rule.id for rule in ruleset.rules} == {rule.id for rule in SEEDS}
    assert [rule.priority for rule in ruleset.rules] == sorted(rule.priority for rule in SEEDS)
    assert ruleset.settings.minimum_chars == 7
    assert os.listdir(tmp_path) == []


def test_the_seeds_can_be_switched_off() -> None:
    """Then there are none."""
    assert built_in(Config(rewriting=Rewriting(seed_rules=False, shipped_rules=False))) == ()


def test_a_file_adds_rules_and_replaces_those_of_the_same_name(tmp_path: Path) -> None:
    """The file of the configuration wins over the seeds."""
    given, seed = tmp_path / "given.json", SEEDS[0]
    given.write_text(dump((OWN, replace(seed, description="from the file"))))
    rules = {
        rule.id: rule for rule in built_in(Config(rewriting=Rewriting(rules_file=str(given), shipped_rules=False)))
    }
    assert len(rules) == len(SEEDS) + 1
    assert rules[seed.id].description == "from the file"


def test_a_file_that_is_named_must_be_there(tmp_path: Path) -> None:
    """Its absence is no empty pool."""
    with pytest.raises(ConfigError, match=r"missing\.json: cannot be read"):
        built_in(Config(rewriting=Rewriting(rules_file=str(tmp_path / "missing.json"))))


@pytest.mark.parametrize("text", [b"", b"{", b"\xff", b'[{"rule_id": 4}]', b"4"])
def test_a_file_that_cannot_be_used_is_named(text: bytes, tmp_path: Path) -> None:
    """With what is wrong in it."""
    (tmp_path / "rules.json").write_bytes(text)
    with pytest.raises(ConfigError, match=r"rules\.json"):
        built_in(Config(rewriting=Rewriting(rules_file=str(tmp_path / "rules.json"))))


async def test_what_is_changed_by_hand_is_there_the_next_time(tmp_path: Path) -> None:
    """Imported, switched off and on again, by events that are kept."""
    await change_pool(PLAIN, tmp_path, lambda pool: imports(pool, (OWN,), SHARED, 1.0))
    off = PoolEvent(name="disabled", ref=("pip_install", 1), time=2.0)
    await change_pool(PLAIN, tmp_path, lambda pool: [off])
    live = {rule.id for rule in all_live(await read_pools(PLAIN, tmp_path), PLAIN).rules}
    assert "own" in live
    assert "pip_install" not in live
    await change_pool(PLAIN, tmp_path, lambda pool: [replace(off, name="enabled", time=3.0)])
    assert "pip_install" in {rule.id for rule in all_live(await read_pools(PLAIN, tmp_path), PLAIN).rules}


async def test_a_damaged_pool_is_told(tmp_path: Path) -> None:
    """It is not taken for an empty one."""
    (tmp_path / POOL).write_bytes(b"this is no database" * 100)
    with pytest.raises(StoreError):
        await read_pools(PLAIN, tmp_path)
