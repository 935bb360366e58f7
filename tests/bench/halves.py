"""Learn on one half of the sources, judge the other, both ways, with a judge that knows no rules.

    python -m tests.bench.halves SESSIONS… [--per-source 4] [--leave-out A,B]

The rules are what `taco-gateway learn` admits, beside the six starting rules, all in use; the columns are those of a replay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from rules_engine.evolution.lessons import learn
from rules_engine.seeds import SEEDS
from tests.bench import arms, tables
from tests.bench.arms import Lesson, Outcome, fixed
from tests.bench.judging import Figures
from tests.bench.recorded import Recorded, in_halves, options, samples_of, shuffled

HEAD = (
    "judged", "sessions", "requests", "raw tokens", "billed", "money", "dearer", "untouched", "prefix stable", "needed",
    "needed kept", "harmed turns", "anchors", "anchors kept", "blocks", "blocks kept", "verdicts", "verdicts kept",
    "foreign", "disorder",
)  # fmt: skip


def main(given: Sequence[str] | None = None) -> None:
    """Print a row for each half, with rules and without, and for both together."""
    args = options(__doc__, per_source=4).parse_args(given)
    sources = shuffled(args)
    halves = in_halves(sources)
    taught = [_teach(sources, *halves, args.per_source), _teach(sources, *halves[::-1], args.per_source)]
    ways = {"rules": lambda lesson: lesson.pool, "lossless kinds only": lambda lesson: ()}
    found = arms.run({name: partial(fixed, rules) for name, rules in ways.items()}, taught)
    rows = []
    for name, both in found.items():
        for words, half in zip(("even sources", "odd sources"), halves, strict=True):
            rows.append(_row(f"{words}, {name}", both.total(half)))
        rows.append(_row(f"all, {name}", both.total()))
    print("; ".join(_describe(one) for one in taught))
    print(f"macro average over sources: {_macro(found)}")
    print(tables.table(HEAD, rows))


def _teach(
    sources: Mapping[str, Sequence[Recorded]], taught: Sequence[str], judged: Sequence[str], most: int
) -> Lesson:
    given = [one for name in taught for one in sources[name]]
    samples = samples_of(given)
    rules = tuple(verdict.rule for verdict in learn(lambda: samples) if verdict.admitted)
    of = {name: sources[name][:most] for name in judged}
    return Lesson(
        miner=rules,
        model=(),
        unrefined=(),
        score=SEEDS[0],
        sessions=(len(given), sum(map(len, of.values()))),
        judged=of,
    )


def _describe(lesson: Lesson) -> str:
    return f"{lesson.sessions[0]} sessions teach {len(lesson.miner)} rules ({', '.join(r.id for r in lesson.miner)})"


def _macro(found: Mapping[str, Outcome]) -> str:
    return ", ".join(f"{tables.saved(one.macro())} with {name}" for name, one in found.items())


def _row(name: str, found: Figures) -> list[str]:
    return [
        name,
        str(found.sessions),
        f"{found.requests:,}",
        f"{found.raw:,}",
        tables.saved(found.saved),
        tables.saved(found.money_saved),
        str(found.dearer),
        *(f"{found.share(name):.2f} %" for name in ("untouched", "stable")),
        *(f"{found.needed:,}", tables.kept(found, "needed"), f"{found.share('harmed'):.2f} %"),
        *(text for name in ("anchors", "blocks", "verdicts") for text in _counted(found, name)),
        *(f"{found.share(name, 'rewritten'):.2f} %" for name in ("foreign", "disorder")),
    ]


def _counted(found: Figures, name: str) -> tuple[str, str]:
    return f"{getattr(found, name):,}", tables.kept(found, name)


if __name__ == "__main__":
    main()
