"""Kill -9 at any line of a run, again and again: `python -m tests.memory.L4_raw_sessions.killing [RUNS [SEED]]`."""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import random
import shutil
import signal
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from memory import Archive, ExchangeRecord, Message, RawLog, message_hash
from memory.L4_raw_sessions import appending
from memory.L4_raw_sessions.compress_session import _compress_raw
from tests.memory.L4_raw_sessions.archives import APRIL, NOW, House, exchanges_in, free, ours, recorded

Site = tuple[str, int]

TRACED = ("L4_raw_sessions", "zipfile.py", "shutil.py", "memory/letting_go.py", "memory/forgetting.py", "memory/db.py")


class Story:
    """One seeded story: sessions are written, runs are killed, and at the end one is left in peace."""

    def __init__(self, seed: int, root: Path) -> None:
        self._random = random.Random(seed)
        self.house = House(root / "data")
        self._scratch = root / "scratch"
        self.logs: list[bytes] = []
        self._said: dict[str, Message] = {}
        self._counts: Counter[str] = Counter()
        self._tips: dict[str, str] = {}
        self._now = NOW

    def tell(self) -> list[str]:
        """Go through it; where runs were killed. Raises `AssertionError`."""
        self._write()
        if self._random.random() < 0.5:
            self.house.run(now=self._now)
            self._write()
        places = []
        for _ in range(self._random.choice((1, 1, 2, 3))):
            places.append(self._be_killed())
            self.check()
            if self._random.random() < 0.4:
                self._write()
        self._now += 20_000
        report = self.house.run(now=self._now)
        assert report["errors"] == [], report
        self.check()
        self._check_end()
        return places

    def _write(self) -> None:
        for _ in range(self._random.randint(1, 3)):
            name = self._random.choice("abc")
            if self._random.random() < 0.5:
                self._record([self._exchange(name) for _ in range(self._random.randint(1, 3))])
                continue
            if self._random.random() < 0.3:
                first, count = self._counts[name], self._random.randint(1, 3)
                self._counts[name] += count
                data = ours(name, count, first=first)
            else:
                text = f"{self._random.random()}"
                data, name = free(text, "an answer", echo=text, start=APRIL + self._random.choice((0, 3e6))), text[2:8]
            path = self.house.raw / f"model_responses_{name}.txt"
            # whoever has a log open goes on in it
            before = path.read_bytes() if path.exists() else b""
            self.house.log(name, before + data, now=self._now)
            self.logs.append(data)

    def _exchange(self, name: str) -> ExchangeRecord:
        """What the gateway records: a question and its answer; two sessions begin with the same question."""
        session = f"recorded {name}"
        count = self._counts[session]
        self._counts[session] += 1
        tip = self._tips.get(session)
        question = _message(tip, "user", f"question {count}" if not count and name != "c" else f"{count} of {name}")
        answer = _message(question.hash, "assistant", f"answer {count} of {name}")
        self._tips[session] = answer.hash
        self._said |= {question.hash: question, answer.hash: answer}
        return recorded(f"recorded-{name}-{count}", session, APRIL + 60 * count, question, answer)

    def _record(self, records: Sequence[ExchangeRecord]) -> None:
        """Into the archive and into the raw log, as the gateway's books do it."""
        log = RawLog(self.house.root)
        path = log.path("tenant", records[0].session)
        before = path.read_bytes() if path.exists() else b""
        asyncio.run(_append(self.house.root, records))
        log.append(records)
        os.utime(path, (self._now - 10_000, self._now - 10_000))
        self.logs.append(path.read_bytes()[len(before) :])

    def _be_killed(self) -> str:
        """Let a run die at one of the lines that it would come to; which that was."""
        if self._random.random() < 0.1:
            in_a_fork(self._die_in_the_histories)
            return "half a write into the histories"
        real = self.house.root.rename(self._scratch.with_name("real"))
        shutil.copytree(real, self.house.root)
        sites: Counter[Site] = in_a_fork(lambda: self._traced(None, 0))
        shutil.rmtree(self.house.root)
        real.rename(self.house.root)
        site = self._random.choice(sorted(sites))
        in_a_fork(lambda: self._traced(site, self._random.randint(1, sites[site])))
        return f"{site[0]}:{site[1]}"

    def _traced(self, site: Site | None, times: int) -> Counter[Site]:
        """Run; die when a line is come to for the n-th time, or count how often each is."""
        seen: Counter[Site] = Counter()

        def trace(frame: FrameType, event: str, arg: object) -> Any:
            name = frame.f_code.co_filename
            if not any(part in name for part in TRACED):
                return None
            if event == "line":
                here = (os.path.basename(name), frame.f_lineno)
                seen[here] += 1
                if here == site and seen[here] == times:
                    os.kill(os.getpid(), signal.SIGKILL)
            return trace

        threading.settrace(trace)
        sys.settrace(trace)
        self.house.run(now=self._now)
        sys.settrace(None)
        return seen

    def _die_in_the_histories(self) -> None:
        def half(path: Path, data: bytes) -> None:
            with path.open("ab") as file:
                file.write(data[: self._random.randint(0, len(data))])
            os.kill(os.getpid(), signal.SIGKILL)

        appending._write = half
        self.house.run(now=self._now)

    def check(self) -> None:
        """Each byte that was ever written is in a raw log, the trash, or a zip that can be read; nothing is there twice."""
        raw = [path.read_bytes() for path in self.house.raw_files()]
        trash, members = self.house.trash(), list(self.house.members().values())
        archived = sum((exchanges_in(self._scratch, member) for member in members), Counter[str]())
        assert [key for key, count in archived.items() if count > 1] == []
        for log in self.logs:
            if any(log in kept for kept in (*raw, *trash)):
                continue
            assert _compress_raw(log.decode()).encode() in members or set(exchanges_in(self._scratch, log)) <= set(
                archived
            )
        assert asyncio.run(_lost(self.house.root, self._said.values())) == []

    def _check_end(self) -> None:
        """All is archived, each session has its one block in the histories, and the index says so."""
        assert self.house.raw_files() == []
        members = self.house.members()
        headings = [line for line in self.house.histories().split("\n") if line.startswith("SESSION: ")]
        assert sorted(headings) == sorted(f"SESSION: {name.partition('/')[2]}" for name in members)
        rows = self.house.rows("SELECT zip || '/' || member FROM members")
        assert sorted(name for (name,) in rows) == sorted(members)
        assert self.house.rows("SELECT * FROM items") == []
        assert list(self.house.l4.glob("staging/*")) == []
        assert list(self.house.l4.glob("*.draft")) == []
        assert asyncio.run(_stored(self.house.root, self._said)) == frozenset()


def _message(parent: str | None, role: str, content: str) -> Message:
    data = json.dumps({"role": role, "content": content}).encode()
    return Message(hash=message_hash(parent, data), parent=parent, role=role, content=data)


async def _append(data: Path, records: Sequence[ExchangeRecord]) -> None:
    archive = await Archive.open(data)
    await archive.append(records)
    await archive.aclose()


async def _lost(data: Path, messages: Iterable[Message]) -> list[Message]:
    """Messages that cannot be read any more, word for word."""
    archive = await Archive.open(data)
    lost = [message for message in messages if (await archive.chain(message.hash))[-1:] != (message,)]
    await archive.aclose()
    return lost


async def _stored(data: Path, messages: Iterable[str]) -> frozenset[str]:
    """Messages whose contents the archive of exchanges holds, too."""
    archive = await Archive.open(data)
    stored = await archive.known([*messages])
    await archive.aclose()
    return stored


def in_a_fork(work: Callable[[], Any]) -> Any:
    """Do it in a copy of this process, which may die over it; what it gives, or nothing."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        with os.fdopen(writing, "wb") as answer:
            pickle.dump(work(), answer)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as answer:
        data = answer.read()
    os.waitpid(child, 0)
    return pickle.loads(data) if data else None


def main() -> None:
    """Tell many stories."""
    runs, seed = [*map(int, sys.argv[1:3]), *(500, 0)[len(sys.argv) - 1 :]][:2]
    places: Counter[str] = Counter()
    for number in range(seed, seed + runs):
        with tempfile.TemporaryDirectory() as folder:
            try:
                places.update(Story(number, Path(folder)).tell())
            except BaseException:
                print(f"seed {number}")
                raise
    print(f"{runs} stories, {sum(places.values())} runs killed at {len(places)} places; nothing lost, nothing twice")


if __name__ == "__main__":
    main()
