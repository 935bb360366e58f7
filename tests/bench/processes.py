"""A server in a process of its own: started, waited for, weighed, stopped."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")
PATIENCE = 180.0


@dataclass(frozen=True, slots=True)
class Apart:
    """A weight of the process that serves, and that of all that it started."""

    serving: float = 0.0
    others: float = 0.0

    @property
    def sum(self) -> float:
        """Of both."""
        return self.serving + self.others

    def __add__(self, other: Apart) -> Apart:
        return Apart(self.serving + other.serving, self.others + other.others)

    def __sub__(self, other: Apart) -> Apart:
        return Apart(self.serving - other.serving, self.others - other.others)


@dataclass(frozen=True, slots=True)
class Server:
    """A server that answers."""

    port: int
    process: subprocess.Popen[bytes]
    ready_seconds: float

    def cpu(self) -> Apart:
        """CPU seconds so far, all threads."""
        return self._apart(_cpu)

    def memory(self) -> Apart:
        """Resident megabytes."""
        return self._apart(lambda pid: _status(pid, "VmRSS") / 1024)

    def settle(self) -> None:
        """Wait until what goes on behind the answers has come to its end."""
        quiet = 0
        last = self.cpu().sum
        while quiet < 3:
            time.sleep(0.15)
            now = self.cpu().sum
            quiet = quiet + 1 if now - last < 0.015 else 0
            last = now

    def _apart(self, weigh: Callable[[int], float]) -> Apart:
        first, *others = self._family()
        return Apart(weigh(first), sum(map(weigh, others)))

    def _family(self) -> list[int]:
        parents = {int(path.name): _parent(int(path.name)) for path in Path("/proc").iterdir() if path.name.isdigit()}
        family = [self.process.pid]
        for pid in family:
            family += [child for child, parent in parents.items() if parent == pid]
        return family


@contextmanager
def serving(
    command: Sequence[str], port: int, health: str, environ: Mapping[str, str], log: Path, folder: Path | None = None
) -> Iterator[Server]:
    """A server on `port`, ready when `health` answers 200, until the context ends."""
    began = time.perf_counter()
    with log.open("ab") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, env={**os.environ, **environ}, cwd=folder)
        try:
            while not _answers(port, health):
                if process.poll() is not None or time.perf_counter() - began > PATIENCE:
                    raise RuntimeError(
                        f"{command[0]} did not start; it said:\n{log.read_text(errors='replace')[-2000:]}"
                    )
                time.sleep(0.005)
            yield Server(port, process, time.perf_counter() - began)
        finally:
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def _answers(port: int, path: str) -> bool:
    connection = HTTPConnection("127.0.0.1", port, timeout=5)
    with suppress(OSError):
        connection.request("GET", path)
        return connection.getresponse().status < 500
    return False


def _cpu(pid: int) -> float:
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICK
    return 0.0


def _parent(pid: int) -> int:
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return 0


def _status(pid: int, name: str) -> int:
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(name + ":"):
                return int(line.split()[1])
    return 0
