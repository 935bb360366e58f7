"""The archive redacted again: gone from every row, messages keep their names, and everything still verifies."""

from __future__ import annotations

import base64
import os
import sqlite3
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from memory import Archive, ExchangeRecord, Message, RewriteRecord, SignalRecord
from memory.L4_raw_sessions.sweeping import MARK, Sweep

Chain = Callable[..., tuple[Message, ...]]
Record = Callable[..., ExchangeRecord]
Rewrite = Callable[..., RewriteRecord]

WORD = "unmistakable"


def holds(folder: Path) -> list[str]:
    """Files and rows in which the word stands."""
    found = [path.name for path in folder.rglob("*") if path.is_file() and WORD.encode() in path.read_bytes()]
    with closing(sqlite3.connect(folder / "archive.sqlite")) as connection, connection:
        for table in ("contents", "blobs", "texts"):
            rows = connection.execute(f"SELECT data FROM {table} WHERE data IS NOT NULL").fetchall()
            found += [table for (data,) in rows if WORD.encode() in zlib.decompress(data)]
        found += ["signals" for (text,) in connection.execute("SELECT evidence FROM signals") if WORD in text]
    return found


async def test_nothing_to_redact(archive: Archive, chain: Chain, record: Record, rewrite: Rewrite) -> None:
    """No row is touched."""
    history = chain("a", "b")
    await archive.append([record("1", history, rewrites=(rewrite(),))])
    assert await archive.redact(Sweep.of(WORD)) == 0
    assert (await archive.verify()).problems == ()


async def test_it_goes_from_every_row(
    archive: Archive, chain: Chain, record: Record, rewrite: Rewrite, signal: SignalRecord, tmp_path: Path
) -> None:
    """Messages, heads, errors, usage, evidence; a rewrite that holds it is emptied, as its texts are sealed."""
    from dataclasses import replace

    history = chain("plain", f"say {WORD}", {"role": "user", "content": [{"type": "text", "text": WORD}]})
    made = record(
        "1",
        history,
        head=b'{"model":"m","tools":["%b"]}' % WORD.encode(),
        error=f"it said {WORD}",
        reported={"note": WORD, "prompt_tokens": 7},
        signals=(replace(signal, evidence=WORD),),
        rewrites=(rewrite(f"one\n{WORD}"), rewrite("kept")),
    )
    await archive.append([made])
    assert await archive.redact(Sweep.of(WORD)) == 9
    assert holds(tmp_path / "data") == []
    said = [message.content.decode() for message in await archive.chain(history[-1].hash)]
    assert ["plain" in said[0], MARK in said[1], MARK in said[2]] == [True, True, True]
    row = await archive.exchange("1")
    assert row is not None
    assert (row.error, row.reported) == (f"it said {MARK}", {"note": MARK, "prompt_tokens": 7})
    emptied, kept = await archive.rewrite("1"), await archive.rewrite("2")
    assert emptied is not None
    assert kept is not None
    assert (emptied.texts, kept.texts is None) == (None, False)
    assert (await archive.verify()).problems == ()
    assert await archive.redact(Sweep.of(WORD)) == 0


@pytest.mark.parametrize("shared", [False, True], ids=["alone", "another message holds the blob"])
async def test_blobs_beside_it_stay(archive: Archive, chain: Chain, record: Record, shared: bool) -> None:
    """A picture in the same message is there afterwards, once."""
    picture = base64.b64encode(os.urandom(6000)).decode()
    history = chain(f"{WORD} {picture} {WORD}", *([picture] if shared else []))
    await archive.append([record("1", history)])
    await archive.redact(Sweep.of(WORD))
    said = [message.content.decode() for message in await archive.chain(history[-1].hash)]
    assert f"{MARK} {picture} {MARK}" in said[0]
    assert all(picture in text for text in said)
    assert (await archive.verify()).problems == ()


async def test_what_was_forgotten_stays_so(archive: Archive, chain: Chain, record: Record) -> None:
    """Nothing comes back."""
    history = chain(WORD)
    await archive.append([record("1", history)])
    await archive.forget("session 1")
    assert await archive.redact(Sweep.of(WORD)) == 0
    assert (await archive.chain(history[-1].hash))[0].content == b""
