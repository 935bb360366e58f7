"""What the archive costs: `python -m tests.bench.archive SESSIONS… [--gigabytes 5]`.

Recorded sessions, repeated under fresh ids, go into the store as the gateway's worker writes them; then one run archives them.
Told are bytes stored for each byte received, the seconds of the run, memory, and search against a linear scan.
"""

from __future__ import annotations

import asyncio
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from random import Random
from statistics import quantiles
from tempfile import TemporaryDirectory
from typing import Any

import click

from gateway.commands.figures import aligned
from gateway.recordings import Session, read_sessions
from memory import Archive, Logged, RawLog, batch_process, search_sessions, verify
from memory.L4_raw_sessions import zips
from memory.L4_raw_sessions.places import Places, places_of
from memory.roots import raw_folder
from tests.bench.recorded import options
from tests.bench.repeated import Received, repeat

BATCH = 100
DAY = 86_400.0
QUERIES, SCANS = 200, 5


def main() -> None:
    """Fill a folder, archive it, search it."""
    parser = options(__doc__, 0)
    parser.add_argument("--gigabytes", type=float, default=0.5, help="bytes of requests and answers that are received")
    parser.add_argument("--work", type=Path, help="folder that is kept")
    args = parser.parse_args()
    sessions = [s for path in args.files for s in read_sessions(path) if s.turns]
    with TemporaryDirectory(prefix="taco-bench-") as folder:
        print(aligned(measure(sessions, int(args.gigabytes * 1e9), args.work or Path(folder), Random(args.seed))))


def measure(sessions: Sequence[Session], size: int, data: Path, rng: Random) -> list[tuple[str, str]]:
    """All figures."""
    filled = Filled(rng)
    asyncio.run(_fill(data, sessions, size, filled))
    places = places_of(raw_folder(data))
    raw = size_of(raw_folder(data))
    report, seconds, peak = _apart(_archive, data)
    live = size_of(data, "archive.sqlite*")
    kept = {"zips": sum(path.stat().st_size for path in places.zips()), "histories": size_of(places.folder, "all_*")}
    kept["index"] = size_of(places.folder, "index.sqlite*")
    found = verify(l4_dir=places.folder)
    queries = [filled.query() for _ in range(QUERIES)]
    asked = _timed(queries, lambda words: search_sessions(words, l4_dir=places.folder))
    scanned = _timed(queries[:SCANS], lambda words: _scan(places, words))
    return [
        (
            "received",
            f"{filled.received / 1e9:.2f} GB in {filled.exchanges:,} exchanges of {filled.sessions:,} sessions",
        ),
        (
            "written in",
            f"{filled.seconds:.0f} s, {1e3 * filled.seconds / filled.exchanges:.2f} ms an exchange, off the path",
        ),
        ("memory while written", ", ".join(f"{m:.0f}" for m in filled.memory) + " MB, after each tenth"),
        ("raw logs", _share(raw, filled.received)),
        *((name, _share(n, filled.received)) for name, n in kept.items()),
        ("all of L4", _share(sum(kept.values()), filled.received)),
        ("archive.sqlite", _share(live, filled.received)),
        ("all that is kept", _share(sum(kept.values()) + live, filled.received)),
        ("trash, for a week", _share(size_of(places.trash), filled.received)),
        (
            "archive run",
            f"{seconds:.1f} s, {report['new_sessions']:,} sessions, at most {peak:.0f} MB, {len(report['errors'])} errors",
        ),
        ("verified", f"{found.members:,} members, {len(found.problems)} problems"),
        ("search", _tell(asked)),
        ("linear scan", _tell(scanned)),
        ("times faster", f"{sorted(scanned)[len(scanned) // 2] / sorted(asked)[len(asked) // 2]:,.0f}"),
    ]


class Filled:
    """What went in, and words out of it to ask for."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._words: list[str] = []
        self.received = self.exchanges = 0
        self.names: set[str] = set()
        self.seconds = 0.0
        self.memory: list[float] = []

    @property
    def sessions(self) -> int:
        """How many."""
        return len(self.names)

    def add(self, one: Received) -> None:
        """Count an exchange."""
        self.received += one.size
        self.exchanges += 1
        self.names.add(one.record.session)
        if self._rng.random() < 0.2 and one.record.messages:
            words = [w for w in one.record.messages[-1].content.decode()[:4000].split() if w.isalpha() and len(w) > 4]
            if len(words) > 3:
                at = self._rng.randrange(len(words) - 1)
                self._words.append(" ".join(words[at : at + 2]))

    def query(self) -> str:
        """Two words that stand beside each other in some message, or nearly."""
        return self._rng.choice(self._words)


async def _fill(data: Path, sessions: Sequence[Session], size: int, filled: Filled) -> None:
    archive = await Archive.open(data)
    logged = Logged(archive, RawLog(data))
    batch: list[Received] = []
    with click.progressbar(length=size, label="Receiving") as bar:
        for one in repeat(sessions, size, time.time() - 60 * DAY):
            batch.append(one)
            filled.add(one)
            if len(batch) == BATCH:
                await _store(logged, batch, filled)
                bar.update(sum(each.size for each in batch))
                batch = []
                if filled.received >= size * (len(filled.memory) + 1) / 10:
                    filled.memory.append(resident())
        await _store(logged, batch, filled)
    await archive.aclose()


async def _store(logged: Logged, batch: Sequence[Received], filled: Filled) -> None:
    began = time.perf_counter()
    await logged.append([one.record for one in batch])
    filled.seconds += time.perf_counter() - began


def _archive(data: Path) -> dict[str, Any]:
    return batch_process(raw_folder(data), dry_run=False, clock=lambda: time.time() + DAY)


def _apart(work: Callable[[Path], dict[str, Any]], data: Path) -> tuple[dict[str, Any], float, float]:
    """What work in a process of its own gives, its seconds, and the most megabytes that it had."""
    began = time.perf_counter()
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        report = pool.submit(work, data).result()
        peak = pool.submit(_peak).result()
    return report, time.perf_counter() - began, peak


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def resident(pid: int | None = None) -> float:
    """Megabytes of a process; of this one, where none is named."""
    pages = int(Path(f"/proc/{pid or 'self'}/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def _scan(places: Places, words: str) -> int:
    """Members that hold all words, found without an index."""
    wanted = [word.encode() for word in words.lower().split()]
    hits = 0
    for path in places.zips():
        for member in zips.facts_of(path):
            with zips.extracted(path, member) as file:
                text = file.read().lower()
            hits += all(word in text for word in wanted)
    return hits


def _timed(queries: Sequence[str], search: Callable[[str], object]) -> list[float]:
    out = []
    for words in queries:
        began = time.perf_counter()
        search(words)
        out.append(time.perf_counter() - began)
    return out


def _tell(seconds: Sequence[float]) -> str:
    cuts = quantiles(seconds, n=100, method="inclusive")
    return f"{1e3 * cuts[49]:,.1f} ms median, {1e3 * cuts[98]:,.1f} ms p99, {len(seconds)} queries"


def _share(size: int, of: int) -> str:
    return f"{size / 1e6:,.1f} MB, {100 * size / of:.2f} % of what was received"


def size_of(folder: Path, pattern: str = "**/*") -> int:
    """Bytes of the files below a folder."""
    return sum(path.stat().st_size for path in _files(folder, pattern))


def _files(folder: Path, pattern: str) -> Iterator[Path]:
    return (path for path in folder.glob(pattern) if path.is_file())


if __name__ == "__main__":
    main()
