"""The learning curve: what is saved and kept on sessions held out, after learning from more and more others.

    python -m tests.bench.curve SESSIONS… [--per-source 2] [--steps 0,10,50,100,300]

Held out are the first sessions of each source; the others teach, in a random order, the same for each step. So the held
out are of repositories that a gateway has seen, as its own are; `tests.bench.halves` judges what it has not. The rules
that come with the package were learned from recorded sessions: where those are among the files, their rows are no proof.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from random import Random

from gateway.config import Config
from gateway.evolving.rules import built_in
from rules_engine import Rule
from rules_engine.evolution.lessons import learn
from rules_engine.seeds import SEEDS
from tests.bench import arms, tables
from tests.bench.arms import Arm, Lesson, fixed
from tests.bench.recorded import options, samples_of, shuffled


def main(given: Sequence[str] | None = None) -> None:
    """Print a row for each pool and step."""
    parser = options(__doc__, per_source=2)
    parser.add_argument("--steps", default="0,10,50,100,300", help="sessions that are learned from")
    args = parser.parse_args(given)
    sources = shuffled(args)
    held = {name: sessions[: args.per_source] for name, sessions in sources.items()}
    others = [one for sessions in sources.values() for one in sessions[args.per_source :]]
    Random(args.seed).shuffle(others)
    learned = {}
    for step in (int(text) for text in args.steps.split(",")):
        samples = samples_of(others[:step])
        learned[step] = tuple(verdict.rule for verdict in learn(lambda given=samples: given) if verdict.admitted)  # type: ignore[misc]
    bases = {"empty pool": (), "shipped pool": built_in(Config())}
    ways = {
        (name, step): (*base, *_besides(new, base)) for name, base in bases.items() for step, new in learned.items()
    }
    lesson = Lesson(miner=(), model=(), unrefined=(), score=SEEDS[0], sessions=(0, 0), judged=held)
    table: dict[str, Arm] = {f"{name}, {step}": partial(fixed, _only(rules)) for (name, step), rules in ways.items()}
    found = arms.run(table, [lesson])
    rows = [
        [name, str(min(step, len(others))), str(len(rules)), *tables.columns(found[f"{name}, {step}"].total())]
        for (name, step), rules in ways.items()
    ]
    print(f"{sum(map(len, held.values()))} sessions of {len(held)} sources are judged, {len(others)} others may teach.")
    print(tables.table(("learned over the", "sessions", "rules", *tables.HEAD), rows))


def _only(rules: Sequence[Rule]) -> Callable[[Lesson], Sequence[Rule]]:
    return lambda lesson: rules


def _besides(new: Sequence[Rule], base: Sequence[Rule]) -> tuple[Rule, ...]:
    """Those that stand in the base under the same name already are not taken twice."""
    return tuple(rule for rule in new if rule.id not in {known.id for known in base})


if __name__ == "__main__":
    main()
