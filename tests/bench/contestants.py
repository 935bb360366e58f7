"""Who is compared, each as a server of its own before one upstream, and what is measured of it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from tests.bench.load import send_abreast, send_all
from tests.bench.processes import Apart, Server, free_port, serving
from tests.bench.sessions import MODEL, agent, small

ROOT = Path(__file__).parents[2]
LITELLM = "litellm[proxy]>=1.100,!=1.82.7,!=1.82.8,<2"
_KEYLESS = "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY"
_QUIET = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_LOG": "ERROR", _KEYLESS: "true"}
_AGENT_PAUSE = 0.02
"""Seconds between an agent's requests: it runs a command in between."""

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


def _smalls(number: int, count: int, *, stream: bool) -> Bodies:
    return [], [small(number * count + k, stream=stream) for k in range(count)]


CASES = (
    Case(name="0.6 KB", bodies=lambda number: _smalls(number, 300, stream=False)),
    Case(name="100 chunks", bodies=lambda number: _smalls(number, 60, stream=True), width=4),
    Case(name="400 KB", bodies=agent, pause=_AGENT_PAUSE),
)


@dataclass(slots=True)
class Result:
    """What one contestant needed for one case."""

    cpu: Apart = field(default_factory=Apart)
    latencies: list[float] = field(default_factory=list)

    def summary(self) -> dict[str, float]:
        """Milliseconds for each request."""
        each = 1000 / len(self.latencies)
        cpu = {"cpu": each * self.cpu.sum, "cpu_serving": each * self.cpu.serving, "cpu_others": each * self.cpu.others}
        return {**cpu, **in_milliseconds(self.latencies)}


def in_milliseconds(seconds: list[float]) -> dict[str, float]:
    """Median and 99th percentile."""
    ordered = sorted(seconds)
    return {"median": 1000 * median(ordered), "p99": 1000 * ordered[min(len(ordered) * 99 // 100, len(ordered) - 1)]}


@dataclass(slots=True)
class Contestant:
    """One way to the upstream."""

    name: str
    port: int
    server: Server | None = None
    """None for the direct call."""
    remembers: bool = False
    memory: Apart = field(default_factory=Apart)
    results: dict[str, Result] = field(default_factory=lambda: {case.name: Result() for case in CASES})

    def run(self, case: Case, bodies: Bodies) -> None:
        """Send a round's requests of one case, and weigh them."""
        before, measured = bodies
        if self.remembers:
            send_all(self.port, before, _AGENT_PAUSE)
        result = self.results[case.name]
        used = self._cpu()
        result.latencies += send_abreast(self.port, measured, case.width, case.pause)
        result.cpu += self._cpu() - used
        if self.server:
            self.memory = max(self.memory, self.server.memory(), key=lambda memory: memory.sum)

    def _cpu(self) -> Apart:
        if self.server is None:
            return Apart()
        self.server.settle()
        return self.server.cpu()


@contextmanager
def direct(scratch: Path) -> Iterator[Contestant]:
    """The upstream itself."""
    with _started("upstream", ["-m", "tests.bench.upstream"], [], "/", scratch) as server:
        yield Contestant("direct", server.port)


@contextmanager
def relay(scratch: Path, upstream: int) -> Iterator[Contestant]:
    """A bare relay on the gateway's stack."""
    with _started("relay", ["-m", "tests.bench.relay"], [_url(upstream)], "/", scratch) as server:
        yield Contestant("bare relay", server.port, server)


@contextmanager
def gateway(data: Path, upstream: int) -> Iterator[Contestant]:
    """The gateway."""
    data.mkdir()
    port = free_port()
    options = ["--port", str(port), "--upstream", f"{_url(upstream)}/v1", "--data", str(data)]
    command = [sys.executable, "-m", "gateway", "up", *options]
    with serving(command, port, "/healthz", {}, data / "log", ROOT) as server:
        yield Contestant("gateway", port, server, remembers=True)


@contextmanager
def litellm(interpreter: Path, scratch: Path, upstream: int) -> Iterator[Contestant]:
    """The LiteLLM proxy, with one worker and nothing switched on."""
    port = free_port()
    params = {"model": f"openai/{MODEL}", "api_base": f"{_url(upstream)}/v1", "api_key": "sk-bench"}
    config = scratch / "litellm.yaml"
    config.write_text(json.dumps({"model_list": [{"model_name": MODEL, "litellm_params": params}]}))
    options = ["--config", str(config), "--host", "127.0.0.1", "--port", str(port), "--telemetry", "False"]
    command = [str(interpreter.with_name("litellm")), *options]
    with serving(command, port, "/health/liveliness", _QUIET, scratch / "litellm.log", scratch) as server:
        yield Contestant("LiteLLM proxy", port, server)


def install_litellm(folder: Path) -> Path:
    """The interpreter of a virtual environment with the LiteLLM proxy, made if it is not there."""
    interpreter = folder / "bin" / "python"
    if not (folder / "bin" / "litellm").exists():
        print("installing the LiteLLM proxy; this takes minutes", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([interpreter, "-m", "pip", "install", "-q", LITELLM], check=True, stdout=sys.stderr)
    return interpreter


@contextmanager
def _started(name: str, module: list[str], arguments: list[str], health: str, scratch: Path) -> Iterator[Server]:
    port = free_port()
    command = [sys.executable, *module, str(port), *arguments]
    environ: Mapping[str, str] = {}
    with serving(command, port, health, environ, scratch / f"{name}.log", ROOT) as server:
        yield server


def _url(port: int) -> str:
    return f"http://127.0.0.1:{port}"
