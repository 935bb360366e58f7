"""How long a decision takes on a busy day: a request of 400 KB, one new output of 20 KB, 300 rules in use.

    python -m tests.bench.decide [--times 300] [--rules 300]

CPU time of the thread, by sort of output; what stood before is indexed already, as in the gateway.
"""

from __future__ import annotations

import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from random import Random

from gateway.config import Config
from gateway.evolving.rules import built_in
from rules_engine import Context, Earlier, Observation, Rule, RuleSet, decide, index
from rules_engine.types import Trigger
from tests.bench import curated, tables
from tests.bench.noise import KINDS, cut, output

EARLIER, EARLIER_CHARS = 76, 5_000
NEW_CHARS = 20_000
WARM = 3
"""Decisions of each sort that are not counted: patterns are compiled once in the life of a process."""


def main(given: Sequence[str] | None = None) -> None:
    """Print median, 99th percentile and worst, by sort of output and of all."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=300)
    parser.add_argument("--rules", type=int, default=300)
    args = parser.parse_args(given)
    ruleset = RuleSet(rules=rules(args.rules))
    found = measure(ruleset, args.times)
    rows = [[name, *_columns(times)] for name, times in found.items()]
    rows.append(["all", *_columns([each for times in found.values() for each in times])])
    print(f"{len(ruleset.rules)} rules, {EARLIER * EARLIER_CHARS // 1000 + NEW_CHARS // 1000} KB of text")
    print(tables.table(("command", "decisions", "median, ms", "p99, ms", "worst, ms"), rows))


def rules(count: int) -> tuple[Rule, ...]:
    """So many rules in the order of use: those that come with the package, the curated ones, and more of those for other tools."""
    found = [*built_in(Config()), *curated.rules()]
    more = (replace(rule, id=f"more_{at}", trigger=_other(at)) for at, rule in enumerate(curated.rules()))
    chosen = [*found, *more][:count]
    return tuple(sorted(chosen, key=lambda rule: (rule.priority, rule.id)))


def measure(ruleset: RuleSet, times: int) -> dict[str, list[float]]:
    """Seconds of CPU by command, each decision about an output that was not there before."""
    rng = Random(0)
    earlier = [_index(at, output(rng, EARLIER_CHARS)[1]) for at in range(EARLIER)]
    context = Context(shell=True, chars=EARLIER * EARLIER_CHARS + NEW_CHARS, earlier=earlier)
    found: dict[str, list[float]] = {}
    for command, lines in KINDS:
        spent = [_decide(command, text, ruleset, context) for text in _outputs(lines, rng, WARM + times // len(KINDS))]
        found[command] = spent[WARM:]
    return found


def _decide(command: str, text: str, ruleset: RuleSet, context: Context) -> float:
    observation = Observation(key=f"{hash(text):x}", tool="bash", command=command, exit_code=None, text=text)
    began = time.thread_time()
    decide(observation, ruleset, context)
    return time.thread_time() - began


def _outputs(lines: Callable[[Random], Iterator[str]], rng: Random, count: int) -> Iterator[str]:
    for _ in range(count):
        yield cut(lines(rng), NEW_CHARS)


def _index(at: int, text: str) -> Earlier:
    return index(f"earlier{at}", text, f"call_{at}")


def _other(at: int) -> Trigger:
    return Trigger(pattern=rf"(?:^|[\s;&|(/])tool{at}\s+(?:build|test)")


def _columns(seconds: Sequence[float]) -> list[str]:
    ranked = sorted(1000 * each for each in seconds)
    return [str(len(ranked)), *(f"{value:.1f}" for value in (_at(ranked, 0.5), _at(ranked, 0.99), ranked[-1]))]


def _at(ranked: Sequence[float], share: float) -> float:
    return ranked[min(int(len(ranked) * share), len(ranked) - 1)]


if __name__ == "__main__":
    main()
