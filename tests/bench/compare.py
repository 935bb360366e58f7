"""A direct call, a bare relay, this gateway and the LiteLLM proxy, side by side in one run before one local upstream.

python -m tests.bench.compare [--work DIR] [--rounds N] [--without-litellm] [--json]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

from tests.bench import contestants
from tests.bench.contestants import CASES, ROOT, Case, Contestant, Result, in_milliseconds
from tests.bench.stall import longest_ping

STARTS = 5

Figures = Mapping[str, Any]
"""What is printed as JSON."""


def main() -> None:
    """Run, and print a table or JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, help="folder that keeps LiteLLM's virtual environment between runs")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--without-litellm", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        figures = _compare(options.work or scratch, scratch, options.rounds, litellm=not options.without_litellm)
    print(json.dumps(figures, indent=2) if options.json else table(figures))


def _compare(work: Path, scratch: Path, rounds: int, *, litellm: bool) -> Figures:
    interpreter = contestants.install_litellm(work / "litellm") if litellm else None
    starts = [_start_seconds(scratch / f"start-{k}") for k in range(STARTS)]
    with ExitStack() as stack:
        ones = [stack.enter_context(contestants.direct(scratch))]
        upstream = ones[0].port
        ones.append(stack.enter_context(contestants.relay(scratch, upstream)))
        gateway = stack.enter_context(contestants.gateway(scratch / "gateway", upstream))
        ones.append(gateway)
        if interpreter:
            ones.append(stack.enter_context(contestants.litellm(interpreter, scratch, upstream)))
        for number in range(rounds + 1):
            for case in CASES:
                _round(ones, case, number)
        pings = longest_ping(gateway.port)
        figures = {one.name: _figures(one) for one in ones}
    figures["gateway"]["ready_seconds"] = median(starts)
    return {"contestants": figures, "longest_ping": pings, "before_call": _before_call()}


def _start_seconds(data: Path) -> float:
    with contestants.gateway(data, 9) as gateway:
        assert gateway.server is not None
        return gateway.server.ready_seconds


def _round(ones: list[Contestant], case: Case, number: int) -> None:
    """One round; the first, number 0, only warms up."""
    bodies = case.bodies(number)
    for one in ones:
        print(f"round {number}: {case.name}, {one.name}", file=sys.stderr)
        one.run(case, bodies)
        if number == 0:
            one.results[case.name] = Result()


def _figures(one: Contestant) -> dict[str, Any]:
    cases = {name: result.summary() for name, result in one.results.items()}
    ready = one.server.ready_seconds if one.server else None
    memory = {"sum": one.memory.sum, "serving": one.memory.serving, "others": one.memory.others}
    return {"cases": cases, "memory_mb": memory if one.server else None, "ready_seconds": ready}


def _before_call() -> dict[str, dict[str, float]]:
    command = [sys.executable, "-m", "tests.bench.before_call"]
    samples = json.loads(subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.PIPE).stdout)
    return {name: in_milliseconds(values) for name, values in samples.items()}


def table(figures: Figures) -> str:
    """Everything as Markdown."""
    ones = figures["contestants"]
    rows = [
        ["", *ones],
        ["---", *("---:" for _ in ones)],
        *(row for case in CASES for row in _case_rows(case.name, ones)),
        ["resident memory, MB", *(_memory(one["memory_mb"]) for one in ones.values())],
        ["start to ready, s", *(_cell(one["ready_seconds"], ".2f") for one in ones.values())],
    ]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([*lines, "", *_sentences(figures)])


def _case_rows(name: str, ones: Mapping[str, Any]) -> Iterator[list[str]]:
    cases = [one["cases"][name] for one in ones.values()]
    yield [f"{name}: CPU per request, ms", *(_with_parts(case, "cpu", ".2f") for case in cases)]
    yield [f"{name}: latency, median / p99, ms", *(f"{case['median']:.1f} / {case['p99']:.1f}" for case in cases)]


def _sentences(figures: Figures) -> Iterator[str]:
    ones, pings = figures["contestants"], figures["longest_ping"]
    for name, sample in figures["before_call"].items():
        yield f"- CPU before the upstream call, {name}: median {sample['median']:.2f} ms, p99 {sample['p99']:.2f} ms"
    last = list(ones)[-1]
    for case in CASES if last != "gateway" else ():
        relay, ours, theirs = (ones[name]["cases"][case.name]["cpu"] for name in ("bare relay", "gateway", last))
        yield f"- {case.name}: of the {last}'s CPU the gateway uses 1/{theirs / ours:.1f}, a bare relay 1/{theirs / relay:.1f}"
    worst = ", ".join(f"{name} {ms:.0f}" for name, ms in pings.items())
    yield f"- longest small request beside a tool result of 10 MB, ms: {worst}"


def _memory(figures: Mapping[str, float] | None) -> str:
    return (
        "–"
        if figures is None
        else _with_parts({f"mb_{name}": mb for name, mb in figures.items()} | {"mb": figures["sum"]}, "mb", ".0f")
    )


def _with_parts(figures: Mapping[str, float], name: str, form: str) -> str:
    """A sum and, where more than one process made it, what the serving one and the others made of it."""
    whole, serving, others = figures[name], figures[f"{name}_serving"], figures[f"{name}_others"]
    if not whole:
        return "–"
    return format(whole, form) + (f" ({serving:{form}} + {others:{form}})" if others else "")


def _cell(value: float | None, form: str) -> str:
    return "–" if value is None else format(value, form)


if __name__ == "__main__":
    main()
