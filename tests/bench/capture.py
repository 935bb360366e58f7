"""What capturing costs a request: `python -m tests.bench.capture SESSIONS… [--requests 1000]`.

A gateway in this process, its books kept by a process of their own, serves recorded sessions; the handing over of each closed
exchange, which is all that stands on the path, is timed, and what became of it is counted.
"""

from __future__ import annotations

import asyncio
import io
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from typing import Any

from gateway import logs
from gateway.app import application
from gateway.commands.figures import aligned
from gateway.config import Config, Upstream
from gateway.exchange import Exchange
from gateway.recording.recorder import Recorder
from gateway.recordings import Session, read_sessions
from gateway.serving import serving
from tests.bench.archive import resident, size_of
from tests.bench.recorded import options
from tests.wire import ask, upstream, whole

PATH = "/v1/chat/completions"


def main() -> None:
    """Serve, and tell."""
    parser = options(__doc__, 0)
    parser.add_argument("--requests", type=int, default=1000)
    args = parser.parse_args()
    logs.configure(stream=io.StringIO())
    sessions = [s for path in args.files for s in read_sessions(path) if s.turns]
    with TemporaryDirectory(prefix="taco-bench-") as folder:
        print(aligned(asyncio.run(measure(sessions, args.requests, Path(folder)))))


async def measure(sessions: Sequence[Session], count: int, data: Path) -> list[tuple[str, str]]:
    """The figures of so many requests."""
    seconds: list[float] = []
    memory: list[str] = []
    _time_offers(seconds)
    received = 0
    async with upstream(whole(b"")) as up:
        config = Config(upstreams=(Upstream(name="up", url=f"{up.url}/v1"),))
        app = application(config, data)
        async with serving(app) as url:
            for number, (body, reply) in enumerate(_requests(sessions)):
                if number == count:
                    break
                up.reply = whole(reply)
                answer = await ask(url, PATH, body)
                up.calls.clear()
                received += len(body) + len(answer.body)
                if number % max(1, count // 10) == count // 10 - 1:
                    pid = app.state.gateway.recorder._books.pid
                    memory.append(f"{resident():.0f} + {resident(pid):.0f}")
            recorder = app.state.gateway.recorder
            await recorder.drain()
            counters = recorder.counters
    cuts = quantiles(seconds, n=1000, method="inclusive")
    return [
        ("requests", f"{len(seconds):,}, {received / 1e6:,.0f} MB received"),
        (
            "handing over",
            f"{1e3 * cuts[499]:.4f} ms median, {1e3 * cuts[989]:.4f} ms p99, {1e3 * max(seconds):.3f} ms at most",
        ),
        ("recorded", f"{counters.recorded:,}, {counters.spilled} spilled, {counters.dropped} dropped"),
        ("memory", ", ".join(memory) + " MB of the gateway (recordings included) and of its books"),
        ("stored", f"{100 * size_of(data) / received:.2f} % of what was received, nothing archived yet"),
    ]


def _time_offers(seconds: list[float]) -> None:
    offer = Recorder.offer

    def timed(self: Recorder, exchange: Exchange) -> None:
        began = time.perf_counter()
        offer(self, exchange)
        seconds.append(time.perf_counter() - began)

    Recorder.offer = timed  # type: ignore[method-assign]


def _requests(sessions: Sequence[Session]) -> Iterator[tuple[bytes, bytes]]:
    """Bodies with the answers that were given to them, turn by turn."""
    for session in sessions:
        for at in session.turns:
            body = {"model": session.model or "recorded", "messages": list(session.messages[:at])}
            yield json.dumps(body).encode("utf-8", "backslashreplace"), _reply(session.messages[at])


def _reply(message: Any) -> bytes:
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return json.dumps({"id": "c", "object": "chat.completion", "choices": [choice]}).encode()


if __name__ == "__main__":
    main()
