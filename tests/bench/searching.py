"""How fast the memory answers, and how large its index is: recorded sessions are archived, and looked through in three ways.

python -m tests.bench.searching --work DIR FILES…      chat messages as JSON lines, as `taco-gateway replay` takes them
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import statistics
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from gateway.recordings import Session, read_sessions
from memory import Archive, ExchangeRecord, Message, batch_process, message_hash
from memory.L4_raw_sessions.catchup import catch_up
from memory.L4_raw_sessions.histories import search_history
from memory.L4_raw_sessions.index import Index
from memory.L4_raw_sessions.places import Places
from memory.L4_raw_sessions.search import Wanted, find
from memory.L4_raw_sessions.texts import text_of
from memory.rawlog import RawLog

TENANT = "bench"
_WORD = re.compile(r"[A-Za-z_]{4,20}")


def main() -> None:
    """Build, archive, index, ask; print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--work", type=Path, required=True, help="an empty folder")
    parser.add_argument("--copies", type=int, default=1, help="each session so often, under a new id")
    parser.add_argument("--per-file", type=int, default=10**9)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--scans", type=int, default=20)
    options = parser.parse_args()
    received = asyncio.run(_record(options))
    places = Places(options.work / "memory" / "L4_raw_sessions")
    began = time.perf_counter()
    report = batch_process(options.work / "temp" / "model_responses", places.folder, dry_run=False, min_age_s=0)
    print(
        f"archived {report['new_sessions']} sessions in {time.perf_counter() - began:.1f} s, {len(report['errors'])} errors"
    )
    index = Index.open(places.index)
    began = time.perf_counter()
    catch_up(places, index)
    index.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    print(f"indexed in {time.perf_counter() - began:.1f} s")
    _sizes(options.work, places, index, received)
    _times(places, index, options)
    index.close()


async def _record(options: argparse.Namespace) -> int:
    """Put the sessions into archive and raw logs; the bytes of all requests that the gateway would have received."""
    archive, log, received, number = await Archive.open(options.work), RawLog(options.work), 0, 0
    for path in options.files:
        for at, session in enumerate(read_sessions(path)):
            if at >= options.per_file:
                break
            for copy in range(options.copies):
                number += 1
                size, records = _records(session, f"s{number}", copy)
                received += size
                for k in range(0, len(records), 100):
                    await archive.append(records[k : k + 100])
                    log.append(records[k : k + 100])
    await archive.aclose()
    past = time.time() - 30_000
    for path in (options.work / "temp" / "model_responses").iterdir():
        os.utime(path, (past, past))
    return received


def _records(session: Session, id_: str, copy: int) -> tuple[int, list[ExchangeRecord]]:
    began = time.time() - 86_400 * (2 + hash(id_) % 300)
    records: list[ExchangeRecord] = []
    fresh: list[Message] = []
    parent, sent, received = (f"copy {copy}" if copy else None), 0, 0
    for message in session.messages:
        content = json.dumps(message).encode()
        hash_ = message_hash(parent, content)
        said = Message(
            hash=hash_,
            parent=parent if parent and parent.startswith("b2:") else None,
            role=message["role"],
            content=content,
        )
        parent = hash_
        if message["role"] == "assistant" and fresh:
            received += sent
            records.append(_exchange(id_, len(records), began, session.model, fresh, said))
            fresh = []
        else:
            fresh.append(said)
        sent += len(content) + 2
    return received, records


def _exchange(
    id_: str, turn: int, began: float, model: str | None, fresh: Sequence[Message], reply: Message
) -> ExchangeRecord:
    return ExchangeRecord(
        id=f"{id_}-{turn}",
        session=id_,
        parent_session=None,
        tenant=TENANT,
        started=began + 20 * turn,
        first_byte=None,
        ended=began + 20 * turn + 10,
        method="POST",
        path="/v1/chat/completions",
        shape="chat_completions",
        upstream="main",
        model=model,
        stream=True,
        retry=False,
        status=200,
        outcome="completed",
        error=None,
        tip=fresh[-1].hash,
        messages=tuple(fresh),
        head=b'{"model":"m"}',
        reply=reply,
        reported=None,
        accounts={},
        kept={},
    )


def _sizes(work: Path, places: Places, index: Index, received: int) -> None:
    def size(*paths: Path) -> int:
        return sum(path.stat().st_size for path in paths if path.exists())

    trash = [path for path in places.trash.rglob("*") if path.is_file()]
    parts = {
        "zips": size(*places.zips()),
        "histories": size(places.histories),
        "index": size(*places.folder.glob("index.sqlite*")),
        "archive.sqlite": size(*work.glob("archive.sqlite*")),
        "trash (a week)": size(*trash),
    }
    ((messages, texts),) = index.rows("SELECT (SELECT count(*) FROM messages), (SELECT count(*) FROM texts)")
    words = index.rows("SELECT sum(length(block)) FROM words_data")[0][0]
    stored = index.rows("SELECT sum(length(data)) FROM texts")[0][0]
    print(f"received {received / 1e6:,.0f} MB; {messages:,} messages, {texts:,} texts")
    for name, bytes_ in parts.items():
        print(f"  {name:16} {bytes_ / 1e6:9.1f} MB  {100 * bytes_ / received:6.2f} % of received")
    print(f"  of the index: words {words / 1e6:.1f} MB, texts {stored / 1e6:.1f} MB")


def _times(places: Places, index: Index, options: argparse.Namespace) -> None:
    questions = list(_questions(index, options.queries))

    def scan(words: str) -> None:
        parts = words.lower().split()
        for path in places.zips():
            with zipfile.ZipFile(path) as archive:
                for name in archive.namelist():
                    text = archive.read(name).decode("utf-8", "replace").lower()
                    all(part in text for part in parts)

    ways: dict[str, tuple[Callable[[str], object], int]] = {
        "index": (lambda words: find(index, words, Wanted(), 10), options.queries),
        "index, with catching up": (
            lambda words: (catch_up(places, index), find(index, words, Wanted(), 10)),
            options.queries,
        ),
        "histories, linear": (lambda words: search_history(words, l4_dir=places.folder), options.scans),
        "all messages, linear": (scan, max(1, options.scans // 4)),
    }
    for name, (ask, count) in ways.items():
        took = sorted(_seconds(ask, words) for words in questions[:count])
        p50, p99 = statistics.median(took), took[min(len(took) - 1, int(0.99 * len(took)))]
        print(f"{name:24} p50 {1000 * p50:9.2f} ms   p99 {1000 * p99:9.2f} ms   ({count} questions)")


def _seconds(ask: Callable[[str], object], words: str) -> float:
    began = time.perf_counter()
    ask(words)
    return time.perf_counter() - began


def _questions(index: Index, count: int) -> Iterator[str]:
    """One to three words that stand in one message, drawn with a fixed seed."""
    dice = random.Random(7)
    ((last,),) = index.rows("SELECT max(id) FROM texts")
    while count:
        found = index.rows("SELECT id FROM texts WHERE id >= ? LIMIT 1", (dice.randint(1, last),))
        words = sorted(set(_WORD.findall(text_of(index, found[0][0])[:20_000])))
        if words:
            count -= 1
            yield " ".join(dice.sample(words, min(len(words), dice.randint(1, 3))))


if __name__ == "__main__":
    main()
