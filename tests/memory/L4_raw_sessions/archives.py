"""Raw logs to archive, and what became of every byte of them."""

from __future__ import annotations

import os
import sqlite3
import zipfile
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory import ExchangeRecord, Message
from memory.L4_raw_sessions.compress_session import batch_process
from memory.L4_raw_sessions.exchanges import read_exchanges
from memory.L4_raw_sessions.sections import put, read_sections

APRIL = 1775247193.0
"""2026-04-03 20:13:13 UTC."""

NOW = APRIL + 100_000.0


def stamp(time: float) -> str:
    """A time, as markers have it."""
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M:%S")


def free(*texts: str, start: float = APRIL, step: float = 60.0, echo: str = "") -> bytes:
    """A log with free text, as others write it: prompts and responses by turns."""
    out = []
    for at, text in enumerate(texts):
        time = stamp(start + at * step)
        if at % 2:
            out.append(f"=== Response === {time} model=small\n{text}\n\n")
        else:
            out.append(f"=== Prompt === {time}\nYou are an agent.\n=== USER ===\n{text}\n=== ASSISTANT ===\n{echo}\n")
    return "".join(out).encode()


def ours(session: str, count: int, start: float = APRIL, first: int = 0) -> bytes:
    """A log of ours with so many exchanges."""
    out = []
    for k in range(first, first + count):
        at = start + 60 * k
        base = f'"b2:{k - 1:032x}"' if k else "null"
        prompt = (
            f'{{"session":"{session}","base":{base},"names":["b2:{k:032x}"],"head_name":"",'
            f'"messages":[{{"role":"user","content":"question {k} of {session}"}}]}}'
        )
        out.append(put("Prompt", at, prompt.encode(), at=repr(at), id=f"{session}-{k}", session=session))
        out.append(put("Response", at + 5, b'{"message":{"role":"assistant","content":"answer %d"}}' % k, model="m"))
    return b"".join(out)


def recorded(id_: str, session: str, at: float, question: Message, answer: Message) -> ExchangeRecord:
    """An exchange as it is handed over to the archive."""
    return ExchangeRecord(
        id=id_,
        session=session,
        parent_session=None,
        tenant="tenant",
        started=at,
        first_byte=None,
        ended=at + 5.0,
        method="POST",
        path="/v1/chat/completions",
        shape="chat_completions",
        upstream="main",
        model="small",
        stream=False,
        retry=False,
        status=200,
        outcome="completed",
        error=None,
        tip=question.hash,
        messages=(question,),
        head=b'{"model":"small"}',
        reply=answer,
        reported=None,
        accounts={},
        kept={},
    )


class House:
    """A data folder with raw logs and an archive."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.raw = root / "temp" / "model_responses"
        self.l4 = root / "memory" / "L4_raw_sessions"
        self.raw.mkdir(parents=True, exist_ok=True)

    def log(self, name: str, data: bytes, *, age: float = 10_000.0, now: float = NOW) -> Path:
        """Write a raw log that was touched so long ago."""
        path = self.raw / f"model_responses_{name}.txt"
        path.write_bytes(data)
        os.utime(path, (now - age, now - age))
        return path

    def run(self, *, now: float = NOW, dry_run: bool = False, **settings: Any) -> dict[str, Any]:
        """One run at a time of our own."""
        return batch_process(self.raw, dry_run=dry_run, clock=lambda: now, **settings)

    def members(self) -> dict[str, bytes]:
        """What is in the zips, by `YYYY-MM.zip/name`. No name is there twice."""
        out: dict[str, bytes] = {}
        for path in sorted(self.l4.glob("*.zip")):
            with zipfile.ZipFile(path) as archive:
                assert archive.testzip() is None
                assert len(set(archive.namelist())) == len(archive.namelist())
                out |= {f"{path.name}/{name}": archive.read(name) for name in archive.namelist()}
        return out

    def raw_files(self) -> list[Path]:
        """Raw logs, sealed ones too."""
        return sorted(self.raw.glob("*"))

    def trash(self) -> list[bytes]:
        """What lies in the trash."""
        return [path.read_bytes() for path in sorted(self.l4.glob("trash/*/*"))]

    def histories(self) -> str:
        """All blocks."""
        path = self.l4 / "all_histories.txt"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def rows(self, sql: str) -> list[Any]:
        """Ask the index."""
        with closing(sqlite3.connect(self.l4 / "index.sqlite")) as connection, connection:
            return connection.execute(sql).fetchall()

    def tree(self) -> dict[str, bytes]:
        """All files with their contents."""
        return {str(p.relative_to(self.root)): p.read_bytes() for p in sorted(self.root.rglob("*")) if p.is_file()}


def exchanges_in(path: Path, data: bytes) -> Counter[str]:
    """How often each exchange stands in a log."""
    path.write_bytes(data)
    with path.open("rb") as file:
        return Counter(exchange.key for exchange in read_exchanges(read_sections(file)))
