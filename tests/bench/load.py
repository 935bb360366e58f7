"""The client of the benchmark: sends bodies over connections that stay open, and times the answers."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection

PATH = "/v1/chat/completions"
HEADERS = {"content-type": "application/json", "authorization": "Bearer sk-bench"}


class Connection:
    """One connection to a server, kept open."""

    def __init__(self, port: int) -> None:
        self._http = HTTPConnection("127.0.0.1", port, timeout=300)
        self._http.connect()
        self._http.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, body: bytes) -> float:
        """Seconds until the first byte of the answer's body; the rest is read, too."""
        began = time.perf_counter()
        self._http.request("POST", PATH, body, HEADERS)
        answer = self._http.getresponse()
        first = answer.read(1)
        took = time.perf_counter() - began
        rest = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"status {answer.status}: {(first + rest)[:300]!r}")
        return took

    def close(self) -> None:
        """Hang up."""
        self._http.close()


def send_all(port: int, bodies: Iterable[bytes], pause: float = 0.0) -> list[float]:
    """Send one after the other, `pause` seconds apart; the seconds that each took."""
    connection = Connection(port)
    out = []
    for body in bodies:
        out.append(connection.send(body))
        time.sleep(pause)
    connection.close()
    return out


def send_abreast(port: int, bodies: Sequence[bytes], width: int, pause: float = 0.0) -> list[float]:
    """The same over `width` connections at once."""
    with ThreadPoolExecutor(width) as pool:
        parts = pool.map(lambda k: send_all(port, bodies[k::width], pause), range(width))
        return [took for part in parts for took in part]
