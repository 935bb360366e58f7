"""The rules that a gateway brings along, and those that its data folder has come to since."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from gateway.config import Config
from gateway.errors import ConfigError, said_by
from gateway.evolving.pools import SHARED, Pools
from memory import PoolEvents
from rules_engine import Rule, RuleError, RuleSet
from rules_engine.alikes import ALIKES
from rules_engine.evolution.pool import Pool, PoolEvent, ranking
from rules_engine.seeds import SEEDS
from rules_engine.taco import load

POOL = "pool.sqlite"
"""The events of the rule pools, in the data folder."""
SHIPPED = Path(__file__).with_name("pool.json")
"""Rules learned beforehand."""


def built_in(config: Config) -> tuple[Rule, ...]:
    """The rules that every pool stands on. Raises `ConfigError` if a rule file cannot be used."""
    seeds = SEEDS if config.rewriting.seed_rules else ()
    alikes = ALIKES if config.rewriting.shipped_rules else ()
    rules: dict[str, Rule] = {rule.id: rule for rule in (*seeds, *alikes)}
    given = Path(config.rewriting.rules_file) if config.rewriting.rules_file else None
    for path in (SHIPPED if config.rewriting.shipped_rules else None, given):
        if path is not None:
            rules.update({rule.id: rule for rule in read_rules(path)})
    return tuple(rules.values())


async def read_pools(config: Config, data: Path) -> Pools:
    """The pools of a data folder as they are now. Raises `ConfigError` and `StoreError`."""
    rules = built_in(config)
    if not (data / POOL).exists():
        return Pools(None, rules, config.evolution)
    store = await PoolEvents.open(data / POOL)
    try:
        pools = Pools(store, rules, config.evolution)
        await pools.refresh()
        return pools
    finally:
        await store.aclose()


async def change_pool(config: Config, data: Path, make: Callable[[Pool], Sequence[PoolEvent]]) -> Sequence[PoolEvent]:
    """Add events to the shared pool of a data folder; a gateway that runs there heeds them within a second."""
    store = await PoolEvents.open(data / POOL)
    try:
        pools = Pools(store, built_in(config), config.evolution)
        await pools.refresh()
        events = make(pools.of(SHARED))
        await pools.append(events)
        return events
    finally:
        await store.aclose()


def all_live(pools: Pools, config: Config, tenant: str = SHARED) -> RuleSet:
    """Every live rule of a pool, whatever the task: what a rule can do is seen only where it is in use."""
    ordered = sorted(
        (entry.current() for entry in ranking(pools.of(tenant))), key=lambda rule: (rule.priority, rule.id)
    )
    return RuleSet(rules=tuple(ordered), settings=config.rules)


def read_rules(path: Path) -> tuple[Rule, ...]:
    """The rules in a file."""
    try:
        return load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {said_by(error)}") from error
    except RuleError as error:
        raise ConfigError(f"{path}: {error}") from error
