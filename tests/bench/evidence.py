"""The paper's evidence, as far as recordings can give it: arms, matched budgets, batches and top-k.

    python -m tests.bench.evidence SESSIONS… [--per-source 2] [--daily A,B] [--benchmark "TB 1=A,B"] [--parts arms,benchmarks,budgets,batches]

SESSIONS are files of recorded sessions, a source each. Rules are learned from one half of the sources and judged on the
other, both ways, so that none is judged on what it is from.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from rules_engine.evolution.numbers import Numbers
from tests.bench import arms, tables
from tests.bench.arms import Arm, Lesson, Outcome, evolving, many
from tests.bench.recorded import in_halves, options, samples_of, shuffled

BUDGETS = (95, 90, 80, 70)
"""Per cent of raw."""
LIMITS = (0.02, 0.1, 0.3, 0.6, 0.9, 0.9999)
LINES = (400, 200, 100, 60, 40, 20, 10, 5, 2)
BATCHES = (1, 2, 4, 8, 16)
TOPS = (10, 20, 30, 50)
PAPER = {"SWE": 12.1, "TB 1": 21.2, "TB 2": 2.7}
"""Per cent that the paper's table 1 saves, by the beginning of a benchmark's name."""


def lessons(args: Namespace) -> list[Lesson]:
    """What each half teaches, with the sessions of the other."""
    sources = shuffled(args)
    halves = in_halves(sources)
    out = []
    for taught, judged in (halves, halves[::-1]):
        given = [one for name in taught for one in sources[name][: args.lessons]]
        of = {name: sources[name][: args.per_source] for name in judged}
        out.append(arms.teach(samples_of(given), len(given), of))
    return out


def main(given: Sequence[str] | None = None) -> None:
    """Print the tables that are asked for."""
    parser = options(__doc__, per_source=2)
    parser.add_argument("--lessons", type=int, default=60, help="sessions that are learned from of each file, at most")
    parser.add_argument("--daily", default="", help="sources of day-to-day work; the others are benchmarks")
    parser.add_argument("--benchmark", action="append", default=[], help="NAME=SOURCE,SOURCE: a row beside the paper's")
    parser.add_argument("--parts", default="arms,benchmarks,budgets,batches")
    args = parser.parse_args(given)
    taught = lessons(args)
    print(_describe(taught))
    for name in args.parts.split(","):
        print()
        print(PARTS[name](taught, args))


def _describe(taught: Sequence[Lesson]) -> str:
    ways = (
        f"{one.sessions[0]} sessions teach {len(one.miner)} rules of the miner's and {len(one.model)} of the scripted model's "
        f"({len(one.unrefined)} proposed), judged on {one.sessions[1]} of other sources"
        for one in taught
    )
    return "; ".join(ways) + "."


def compare(taught: Sequence[Lesson], args: Namespace) -> str:
    """The arms, over all sources; two of them by sort of source."""
    found = arms.run(arms.ARMS, taught)
    head = ("arm", *tables.HEAD, "model's share", "complaints")
    rows = [[name, *tables.columns(one.total()), *_of_life(one)] for name, one in found.items()]
    parts = [tables.table(head, rows)]
    daily = [name for name in args.daily.split(",") if name]
    if daily:
        parts.append(_by_sort(found, daily))
    return "\n\n".join(parts)


def _of_life(one: Outcome) -> list[str]:
    sent = one.total().sent
    share = f"{100 * one.tokens / (sent + one.tokens):.2f} %" if one.tokens else "–"
    return [share, str(sum(lived.complaints for lived in one.lived)) if one.lived else "–"]


def _by_sort(found: Mapping[str, Outcome], daily: Sequence[str]) -> str:
    plain, ours = found["lossless kinds, no rules"], found["evolving, both"]
    benchmarks = [name for name in ours.figures if name not in daily]
    rows = []
    for words, sources in (("all", list(ours.figures)), ("day-to-day", daily), ("benchmarks", benchmarks)):
        lossless, whole = plain.total(sources), ours.total(sources)
        by_rules = whole.saved - lossless.saved
        rows.append(
            [
                f"{words} ({whole.sessions} sessions)",
                *map(tables.saved, (whole.saved, lossless.saved, by_rules, ours.macro(sources), whole.money_saved)),
                tables.kept(whole, "needed"),
            ]
        )
    head = ("evolving, both", "billed, micro", "lossless kinds", "rules", "billed, macro", "money", "needed")
    return tables.table(head, rows)


def benchmarks(taught: Sequence[Lesson], args: Namespace) -> str:
    """The benchmarks that are recorded beside the paper's own."""
    asked = {name: sources.split(",") for name, _, sources in (text.partition("=") for text in args.benchmark)}
    wanted = {source for sources in asked.values() for source in sources}
    only = [replace(one, judged={k: v for k, v in one.judged.items() if k in wanted}) for one in taught]
    one = arms.run({"": arms.ARMS["evolving, both"]}, only)[""]
    rows = []
    for name, sources in asked.items():
        found = one.total(sources)
        theirs = next((tables.saved(saved) for start, saved in PAPER.items() if name.startswith(start)), "–")
        millions = f"{found.raw / 1e6:.2f} → {found.sent / 1e6:.2f}"
        row = [name, str(found.sessions), millions, tables.saved(found.saved), theirs]
        rows.append([*row, tables.kept(found, "needed"), f"{found.share('harmed'):.2f} %"])
    head = ("benchmark", "sessions", "prompt tokens, M", "ours", "paper's (MiniMax-M2.5)", "needed", "harmed turns")
    return tables.table(head, rows)


def budgets(taught: Sequence[Lesson], args: Namespace) -> str:
    """For each way of cutting, the mildest setting within each budget; where none is, how far it gets."""
    ways: dict[str, dict[str, Arm]] = {
        "lossless kinds + lines by score": {
            "no lines": arms.ARMS["lossless kinds, no rules"],
            **{f"limit {limit}": arms.scored(limit) for limit in LIMITS},
        },
        "head and tail of terminal output": {f"{n} lines": arms.ends_only(n, whole=False) for n in LINES},
        "head and tail of every output": {f"{n} lines": arms.ends_only(n, whole=True) for n in LINES},
    }
    found = arms.run({f"{way}: {name}": arm for way, steps in ways.items() for name, arm in steps.items()}, taught)
    rows = []
    for way, steps in ways.items():
        curve = {name: found[f"{way}: {name}"] for name in steps}
        rows += [[way, f"{budget} %", *_within(curve, budget)] for budget in BUDGETS]
        rows += [[f"{way}: {name}", "curve", name, *tables.columns(one.total())[:-1]] for name, one in curve.items()]
    points = [row for row in rows if row[1] != "curve"]
    curves = [row[:1] + row[3:] for row in rows if row[1] == "curve"]
    head = tables.HEAD[:-1]
    return "\n\n".join(
        (tables.table(("way", "budget", "setting", *head), points), tables.table(("point of the curve", *head), curves))
    )


def _within(curve: Mapping[str, Outcome], budget: float) -> list[str]:
    for name, one in curve.items():
        if one.total().saved >= 100 - budget:
            return [name, *tables.columns(one.total())[:-1]]
    furthest = max(one.total().saved for one in curve.values())
    return [f"out of reach: {100 - furthest:.1f} % at most", *["–"] * (len(tables.HEAD) - 1)]


def batches(taught: Sequence[Lesson], args: Namespace) -> str:
    """Sessions at once, and rules in use: what they save, and when the top of the pool stays what it is."""
    numbers = {f"N = {n}": Numbers(batch_tasks=n) for n in BATCHES}
    numbers |= {f"k = {k}": Numbers(top_k=k) for k in TOPS}
    ways: dict[str, Arm] = {name: evolving_with(one) for name, one in numbers.items()}
    found = arms.run(ways, taught)
    rows = [[name, *tables.columns(one.total()), *_life(one, numbers[name])] for name, one in found.items()]
    return tables.table(
        (
            "evolving, miner, over learned and curated rules",
            *tables.HEAD,
            "batches",
            "to Retention@30 ≥ 90 %",
            "live rules",
        ),
        rows,
    )


def evolving_with(numbers: Numbers) -> Arm:
    """With the miner, over a pool of more rules than are used at once."""
    return partial(evolving, lambda lesson: many(lesson, numbers))


def _life(one: Outcome, numbers: Numbers) -> Iterator[str]:
    settled = (lived.settled(numbers.retention_k, numbers.retention_line) for lived in one.lived)
    yield " / ".join(str(len(lived.tops)) for lived in one.lived)
    yield " / ".join("not reached" if at is None else str(at) for at in settled)
    yield " / ".join(str(lived.live) for lived in one.lived)


PARTS = {"arms": compare, "benchmarks": benchmarks, "budgets": budgets, "batches": batches}

if __name__ == "__main__":
    main()
