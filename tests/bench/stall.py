"""Whether one huge tool result holds up the others: small requests are sent all the while."""

from __future__ import annotations

import time
from random import Random
from threading import Event, Thread

from tests.bench.load import Connection
from tests.bench.noise import KINDS
from tests.bench.sessions import huge, small

AFTER = 3.0
"""Seconds for which pinging goes on, while the exchange is counted and archived."""


def longest_ping(port: int) -> dict[str, float]:
    """Milliseconds of the longest small request beside one with a result of 10 MB, for each sort of output."""
    out = {}
    for number, (command, lines) in enumerate(KINDS):
        before, body = huge(number, command, lines(Random(number)))
        out[lines.__name__] = _longest_beside(port, before, body)
    return out


def _longest_beside(port: int, before: bytes, body: bytes) -> float:
    connection = Connection(port)
    connection.send(before)
    ended = Event()
    pings: list[float] = []
    pinging = Thread(target=lambda: pings.extend(_ping(port, ended)))
    pinging.start()
    try:
        connection.send(body)
        time.sleep(AFTER)
    finally:
        ended.set()
        pinging.join()
        connection.close()
    return 1000 * max(pings)


def _ping(port: int, ended: Event) -> list[float]:
    connection = Connection(port)
    out: list[float] = []
    while not ended.is_set():
        out.append(connection.send(small(len(out))))
        time.sleep(0.003)
    connection.close()
    return out
