"""What a model of ours may cost: tokens a day, and a share of all tokens, by day and by session; kept on disk.

Each day has a file to which processes append, one at a time, so that several share one budget and a restart forgets
nothing. Sessions are in it by a hash.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import IO

BUDGET, SUFFIX = "budget", ".spend"
"""The folder in a data folder, and how the names of its files end."""
PAGE = 1000
"""Sessions whose traffic may wait to be written down."""


@dataclass(slots=True)
class Sums:
    """Tokens of the model, and of the traffic that it serves."""

    ours: int = 0
    traffic: int = 0

    def share(self, more: int = 0) -> float:
        """The model's share of all tokens, if it took so many more."""
        ours = self.ours + more
        return ours / (ours + self.traffic) if ours else 0.0


@dataclass(slots=True)
class _Day:
    """One file, as far as it was read."""

    name: str
    offset: int = 0
    sums: Sums = field(default_factory=Sums)
    sessions: dict[str, Sums] = field(default_factory=dict)


class Budget:
    """The tokens of one data folder. What touches the disk may be called in a thread, one call at a time."""

    def __init__(self, folder: Path, daily: int, share: float, clock: Callable[[], float]) -> None:
        self._folder = folder
        self._daily = daily
        self._share = share
        self._clock = clock
        self._today, self._yesterday = _Day(""), _Day("")
        self._waiting: dict[str, int] = {}
        self._traffic = 0
        self._lock = Lock()

    def saw(self, session: str, tokens: int) -> None:
        """Count traffic of a session; it is written down with the next expense."""
        name, more = _hashed(session), max(0, tokens)
        with self._lock:
            self._waiting[name] = self._waiting.get(name, 0) + more
            self._traffic += more

    def is_full(self) -> bool:
        """Whether the traffic of many sessions waits to be written down."""
        return len(self._waiting) >= PAGE

    def refusal(self, session: str, tokens: int) -> str | None:
        """Why a session may not spend so many tokens; `None`: it may. What other processes did since is not known."""
        if self._today.sums.ours + tokens > self._daily:
            return f"the day's {self._daily} tokens are spent"
        day = Sums(self._today.sums.ours, self._today.sums.traffic + self._traffic)
        for words, sums in (("day", day), ("session", self._session(_hashed(session)))):
            if sums.share(tokens) >= self._share:
                return f"it would pass {self._share:.3g} of the {words}'s tokens"
        return None

    def reserve(self, session: str, tokens: int) -> str | None:
        """Spend tokens if the budget has them; else why not. Raises `OSError` where that cannot be written down."""
        with self._open() as file:
            reason = self.refusal(session, tokens)
            self._write(file, {} if reason else {_hashed(session): tokens})
        return reason

    def spend(self, session: str, tokens: int) -> None:
        """Count what was spent beyond a reservation; less than nothing gives some of it back. Raises `OSError`."""
        with self._open() as file:
            self._write(file, {_hashed(session): tokens})

    def flush(self) -> None:
        """Write the traffic down. Raises `OSError`."""
        with self._open() as file:
            self._write(file, {})

    def figures(self) -> Mapping[str, object]:
        """Today's sums, for `stats`."""
        sums = self._today.sums
        traffic = sums.traffic + self._traffic
        worst = max((self._session(name).share() for name in list(self._today.sessions)), default=0.0)
        return {
            "tokens": sums.ours,
            "of": sums.ours + traffic,
            "share": Sums(sums.ours, traffic).share(),
            "largest_session_share": worst,
            "daily_tokens": self._daily,
            "share_limit": self._share,
        }

    def _session(self, name: str) -> Sums:
        """A session may have begun yesterday."""
        parts = [day.sessions.get(name, Sums()) for day in (self._yesterday, self._today)]
        traffic = sum(part.traffic for part in parts) + self._waiting.get(name, 0)
        return Sums(sum(part.ours for part in parts), traffic)

    @contextmanager
    def _open(self) -> Iterator[IO[bytes]]:
        """Today's file, locked and read to its end."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self._turn_page()
        with open(self._folder / self._today.name, "a+b", opener=_private) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            _read(self._today, file)
            yield file

    def _turn_page(self) -> None:
        now = self._clock()
        today, yesterday = _name(now), _name(now - 86400)
        if self._today.name == today:
            return
        self._yesterday = self._today if self._today.name == yesterday else _Day(yesterday)
        self._today = _Day(today)
        for path in self._folder.glob(f"*{SUFFIX}"):
            if path.name < yesterday:
                path.unlink(missing_ok=True)
        if (path := self._folder / yesterday).exists():
            with path.open("rb") as file:
                _read(self._yesterday, file)

    def _write(self, file: IO[bytes], spent: Mapping[str, int]) -> None:
        with self._lock:
            waiting = dict(self._waiting)
        names = {**waiting, **spent}
        file.write("".join(f"\n{json.dumps([n, spent.get(n, 0), waiting.get(n, 0)])}" for n in names).encode())
        file.flush()
        with self._lock:
            for name, tokens in waiting.items():
                self._waiting[name] -= tokens
                self._traffic -= tokens
                if not self._waiting[name]:
                    del self._waiting[name]
        _read(self._today, file)


def spent(folder: Path) -> Sums:
    """What was written down yesterday and today, for `stats`."""
    sums = Sums()
    for path in folder.glob(f"*{SUFFIX}"):
        day = _Day(path.name)
        with path.open("rb") as file:
            _read(day, file)
        sums.ours += day.sums.ours
        sums.traffic += day.sums.traffic
    return sums


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _name(now: float) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(now)) + SUFFIX


def _hashed(session: str) -> str:
    return blake2b(session.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _read(day: _Day, file: IO[bytes]) -> None:
    """Add up what was appended; a line that a crash cut off says nothing."""
    file.seek(day.offset)
    data = file.read()
    day.offset += len(data)
    for line in data.split(b"\n"):
        try:
            name, ours, traffic = json.loads(line)
        except (ValueError, TypeError):
            continue
        for sums in (day.sums, day.sessions.setdefault(name, Sums())):
            sums.ours += ours
            sums.traffic += traffic
