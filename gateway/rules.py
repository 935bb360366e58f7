"""The rules in use: the starting rules, and what an operator imported, as one frozen set."""

from __future__ import annotations

from pathlib import Path

from gateway.config import Config
from gateway.errors import ConfigError
from rules_engine import Rule, RuleError, RuleSet
from rules_engine.seeds import SEEDS
from rules_engine.taco import dump, load

POOL = "rules.json"
"""The imported rules, in the data folder, in TACO's JSON."""


def load_rules(config: Config, data: Path) -> RuleSet:
    """The rule set that a gateway starts with. Raises `ConfigError` if a rule file cannot be used."""
    rules: dict[str, Rule] = {rule.id: rule for rule in (SEEDS if config.rewriting.seed_rules else ())}
    for path in (Path(config.rewriting.rules_file) if config.rewriting.rules_file else None, data / POOL):
        if path is not None and (path.exists() or path.name != POOL):
            rules.update({rule.id: rule for rule in read_rules(path)})
    ordered = sorted(rules.values(), key=lambda rule: (rule.priority, rule.id))
    return RuleSet(rules=tuple(ordered), settings=config.rules)


def read_rules(path: Path) -> tuple[Rule, ...]:
    """The rules in a file."""
    try:
        return load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error
    except RuleError as error:
        raise ConfigError(f"{path}: {error}") from error


def write_rules(path: Path, rules: tuple[Rule, ...]) -> None:
    """Replace a rule file, whole or not at all."""
    draft = path.with_suffix(".new")
    draft.write_text(dump(rules), encoding="utf-8")
    draft.replace(path)
