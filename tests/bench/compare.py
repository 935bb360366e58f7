"""A direct call, this gateway and the LiteLLM proxy, side by side in one run, before one local upstream.

python -m tests.bench.compare [--work DIR] [--rounds N] [--without-litellm] [--json]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from tests.bench.load import send_abreast, send_all
from tests.bench.processes import Server, free_port, serving
from tests.bench.sessions import MODEL, agent, small
from tests.bench.stall import longest_ping

ROOT = Path(__file__).parents[2]
LITELLM = "litellm[proxy]>=1.100,!=1.82.7,!=1.82.8,<2"
LOCAL = "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY"
QUIET = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_LOG": "ERROR", LOCAL: "true"}
STARTS = 3
AGENT_PAUSE = 0.02
"""Seconds between an agent's requests: it runs a command in between."""

Figures = Mapping[str, Any]
"""What is printed as JSON."""

Bodies = tuple[list[bytes], list[bytes]]
"""Those that come before, for a gateway that remembers, and those that are measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One sort of request."""

    name: str
    bodies: Callable[[int], Bodies]
    """For each round."""
    width: int = 1
    """So many at once."""
    pause: float = 0.0


@dataclass(slots=True)
class Result:
    """What one contestant needed for one case."""

    cpu: float = 0.0
    latencies: list[float] = field(default_factory=list)

    def summary(self) -> dict[str, float]:
        """Milliseconds for each request."""
        return {"cpu": 1000 * self.cpu / len(self.latencies), **in_milliseconds(self.latencies)}


def _smalls(number: int, count: int, *, stream: bool) -> Bodies:
    return [], [small(number * count + k, stream=stream) for k in range(count)]


CASES = (
    Case(name="0.6 KB", bodies=lambda number: _smalls(number, 300, stream=False)),
    Case(name="100 chunks", bodies=lambda number: _smalls(number, 60, stream=True), width=4),
    Case(name="400 KB", bodies=lambda number: agent(number), pause=AGENT_PAUSE),
)


@dataclass(slots=True)
class Contestant:
    """One way to the upstream."""

    name: str
    port: int
    server: Server | None = None
    """None for the direct call."""
    remembers: bool = False
    memory: float = 0.0
    results: dict[str, Result] = field(default_factory=lambda: {case.name: Result() for case in CASES})

    def run(self, case: Case, bodies: Bodies) -> None:
        """Send a round's requests of one case, and weigh them."""
        before, measured = bodies
        if self.remembers:
            send_all(self.port, before, AGENT_PAUSE)
        result = self.results[case.name]
        used = self._cpu()
        result.latencies += send_abreast(self.port, measured, case.width, case.pause)
        result.cpu += self._cpu() - used
        if self.server:
            self.memory = max(self.memory, self.server.memory())

    def _cpu(self) -> float:
        if self.server is None:
            return 0.0
        self.server.settle()
        return self.server.cpu()


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
    interpreter = _install(work / "litellm") if litellm else None
    starts = [_start_seconds(scratch / f"start-{k}", k) for k in range(STARTS)]
    with ExitStack() as stack:
        contestants = [stack.enter_context(_upstream(scratch))]
        upstream = contestants[0].port
        gateway = stack.enter_context(_gateway(scratch / "gateway", upstream))
        contestants.append(gateway)
        if interpreter:
            contestants.append(stack.enter_context(_proxy(interpreter, scratch, upstream)))
        for number in range(-1, rounds):
            for case in CASES:
                _round(contestants, case, number)
        stall = longest_ping(gateway.port)
        figures = {one.name: _figures(one) for one in contestants}
    figures["gateway"]["ready_seconds"] = median(starts)
    return {"contestants": figures, "stall": {"pings": stall}, "before_call": _before_call()}


def _round(contestants: list[Contestant], case: Case, number: int) -> None:
    """One round; the first, number -1, only warms up."""
    bodies = case.bodies(number + 1)
    for one in contestants:
        print(f"round {number + 1}: {case.name}, {one.name}", file=sys.stderr)
        one.run(case, bodies)
        if number < 0:
            one.results[case.name] = Result()


def _figures(one: Contestant) -> dict[str, Any]:
    cases = {name: result.summary() for name, result in one.results.items()}
    ready = one.server.ready_seconds if one.server else None
    return {"cases": cases, "memory_mb": one.memory if one.server else None, "ready_seconds": ready}


@contextmanager
def _upstream(scratch: Path) -> Iterator[Contestant]:
    port = free_port()
    command = [sys.executable, "-m", "tests.bench.upstream", str(port)]
    with serving(command, port, "/", {}, scratch / "upstream.log", ROOT):
        yield Contestant("direct", port)


@contextmanager
def _gateway(data: Path, upstream: int) -> Iterator[Contestant]:
    port = free_port()
    data.mkdir()
    url = f"http://127.0.0.1:{upstream}/v1"
    command = [sys.executable, "-m", "gateway", "up", "--port", str(port), "--upstream", url, "--data", str(data)]
    with serving(command, port, "/healthz", {}, data / "log", ROOT) as server:
        yield Contestant("gateway", port, server, remembers=True)


@contextmanager
def _proxy(interpreter: Path, scratch: Path, upstream: int) -> Iterator[Contestant]:
    port = free_port()
    params = {"model": f"openai/{MODEL}", "api_base": f"http://127.0.0.1:{upstream}/v1", "api_key": "sk-bench"}
    config = scratch / "litellm.yaml"
    config.write_text(json.dumps({"model_list": [{"model_name": MODEL, "litellm_params": params}]}))
    program = interpreter.with_name("litellm")
    command = [
        str(program),
        "--config",
        str(config),
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--telemetry",
        "False",
    ]
    with serving(command, port, "/health/liveliness", QUIET, scratch / "litellm.log", scratch) as server:
        yield Contestant("litellm", port, server)


def _start_seconds(data: Path, number: int) -> float:
    with _gateway(data, 9) as gateway:
        assert gateway.server is not None
        return gateway.server.ready_seconds


def _install(folder: Path) -> Path:
    """The interpreter of a virtual environment with the LiteLLM proxy, made if it is not there."""
    interpreter = folder / "bin" / "python"
    if not (folder / "bin" / "litellm").exists():
        print("installing the LiteLLM proxy; this takes minutes", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([interpreter, "-m", "pip", "install", "-q", LITELLM], check=True, stdout=sys.stderr)
    return interpreter


def _before_call() -> dict[str, dict[str, float]]:
    command = [sys.executable, "-m", "tests.bench.before_call"]
    samples = json.loads(subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.PIPE).stdout)
    return {name: in_milliseconds([ms / 1000 for ms in values]) for name, values in samples.items()}


def in_milliseconds(seconds: list[float]) -> dict[str, float]:
    """Median and 99th percentile."""
    ordered = sorted(seconds)
    return {"median": 1000 * median(ordered), "p99": 1000 * ordered[min(len(ordered) * 99 // 100, len(ordered) - 1)]}


def table(figures: Figures) -> str:
    """Everything as Markdown."""
    ones = figures["contestants"]
    rows = [
        ["", *ones],
        ["---", *("---:" for _ in ones)],
        *(row for case in CASES for row in _case_rows(case.name, ones)),
        ["resident memory, MB", *(_cell(one["memory_mb"], ".0f") for one in ones.values())],
        ["start to ready, s", *(_cell(one["ready_seconds"], ".2f") for one in ones.values())],
    ]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([*lines, "", *_sentences(figures)])


def _case_rows(name: str, ones: Mapping[str, Any]) -> Iterator[list[str]]:
    cases = [one["cases"][name] for one in ones.values()]
    yield [f"{name}: CPU per request, ms", *(_cell(case["cpu"] or None, ".2f") for case in cases)]
    yield [f"{name}: latency, median / p99, ms", *(f"{case['median']:.1f} / {case['p99']:.1f}" for case in cases)]


def _sentences(figures: Figures) -> Iterator[str]:
    ones, stall = figures["contestants"], figures["stall"]
    for name, sample in figures["before_call"].items():
        yield f"CPU before the upstream call, {name}: median {sample['median']:.2f} ms, p99 {sample['p99']:.2f} ms."
    if "litellm" in ones:
        for case in CASES:
            ours, theirs = (ones[name]["cases"][case.name]["cpu"] for name in ("gateway", "litellm"))
            yield f"{case.name}: the LiteLLM proxy uses {theirs / ours:.1f} times the CPU."
    pings = ", ".join(f"{name} {ms:.0f}" for name, ms in stall["pings"].items())
    yield f"Longest small request beside a tool result of 10 MB, ms: {pings}."


def _cell(value: float | None, form: str) -> str:
    return "–" if value is None else format(value, form)


if __name__ == "__main__":
    main()
