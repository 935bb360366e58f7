"""The archive: whole batches, each exchange once, two processes, nothing secret in any file."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import shutil
import signal as signals
import sqlite3
import stat
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory import Archive, ExchangeRecord, Message, RewriteRecord, SignalRecord, StoreBusy, StoreCorrupt, StoreError
from memory.spill import Spill

Chain = Callable[..., tuple[Message, ...]]
Record = Callable[..., ExchangeRecord]
Rewrite = Callable[..., RewriteRecord]

WRITER = """
import asyncio, pathlib, sys
from memory import Archive, ExchangeRecord, Message, RewriteRecord, message_hash

def make(name, k):
    content = b'{"role": "user", "content": "hello"}'
    message = Message(hash=message_hash(None, content), parent=None, role="user", content=content)
    rewrite = RewriteRecord(
        key=f"{name} {k}", tool="bash", command="ls", before="a", after="b", rules=(), tokens_before=2, tokens_after=1
    )
    return ExchangeRecord(
        id=f"{name} {k}", session=name, parent_session=None, tenant="t", started=0.0, first_byte=None, ended=1.0,
        method="POST", path="/", shape=None, upstream="u", model=None, stream=False, retry=False, status=200,
        outcome="completed", error=None, tip=message.hash, messages=(message,), head=b"{}", reply=None, reported=None,
        accounts={}, kept={}, rewrites=(rewrite,),
    )

async def main(folder, name, count):
    archive = await Archive.open(pathlib.Path(folder))
    for k in range(int(count)):
        await archive.append([make(name, k), make("both", k)])
        print(k, flush=True)
    await archive.aclose()

asyncio.run(main(*sys.argv[1:]))
"""


def write(folder: Path, name: str, count: int) -> subprocess.Popen[str]:
    """Start a process that appends `count` batches: one exchange of its own and one that others append too."""
    arguments = [sys.executable, "-c", WRITER, str(folder), name, str(count)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])


def files(folder: Path) -> dict[str, bytes]:
    """All bytes that the store has written, and all that are in them once decompressed."""
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def test_nothing_appended(archive: Archive) -> None:
    """An empty archive answers every question."""
    await archive.append([])
    assert await archive.known([]) == frozenset()
    assert await archive.exchange("1") is None
    assert await archive.chain("b2:0") == ()
    assert await archive.rewrites(10) == []
    assert await archive.rewrite("1") is None
    assert await archive.omitted("tenant", "abc123") is None
    assert [row async for row in archive.export_rewrites()] == []
    assert (await archive.verify()).problems == ()
    assert (await archive.totals()).requests == 0


async def test_known(archive: Archive, chain: Chain, record: Record) -> None:
    """The messages of an exchange are known once it is stored, the reply too; others are not."""
    first, second = chain("a", "b")
    await archive.append([record("1", [first], reply=second)])
    assert await archive.known([first.hash, second.hash, "b2:0"]) == {first.hash, second.hash}


async def test_histories_share_rows(archive: Archive, chain: Chain, record: Record) -> None:
    """Two histories with a common beginning store it once."""
    one, other = chain("a", "b", "c"), chain("a", "b", "d")
    await archive.append([record("1", one), record("2", other)])
    assert await archive._database.rows("SELECT count(*) FROM messages") == [(4,)]
    assert await archive._database.rows("SELECT count(*) FROM contents") == [(5,)]
    assert await archive.chain(one[-1].hash) == one
    assert await archive.chain(other[-1].hash) == other


async def test_an_exchange_is_stored_once(archive: Archive, record: Record, rewrite: Rewrite) -> None:
    """Appending an exchange again, in the same batch or later, changes nothing."""
    made = record("1", rewrites=(rewrite(),))
    await archive.append([made, made])
    await archive.append([made, record("2")])
    assert (await archive.totals()).requests == 2
    assert len(await archive.rewrites(10)) == 1
    assert (await archive.verify()).problems == ()


async def test_an_id_that_a_client_sends_again_costs_no_exchange(
    archive: Archive, record: Record, rewrite: Rewrite
) -> None:
    """In one batch or later, each is stored once, under an id that begins with the one that was sent."""
    first, second, third = (record("same", started=at, rewrites=(rewrite(),)) for at in (1.0, 2.0, 3.0))
    await archive.append([first, second, first])
    await archive.append([third, second])
    rows = await archive._database.rows("SELECT id, started FROM exchanges ORDER BY started")
    assert rows == [("same", 1.0), ("same~7d0", 2.0), ("same~bb8", 3.0)]
    assert {row.exchange for row in await archive.rewrites(10)} == {"same", "same~7d0", "same~bb8"}
    assert (await archive.verify()).problems == ()


async def test_content_that_comes_later(archive: Archive, chain: Chain, record: Record) -> None:
    """A message that was first handed over without content gets it when it comes."""
    (message,) = chain("a")
    await archive.append([record("1", [dataclasses.replace(message, content=b"")])])
    assert await archive.known([message.hash]) == frozenset()
    await archive.append([record("2", [message])])
    assert await archive.chain(message.hash) == (message,)


async def test_strange_names(archive: Archive, record: Record, signal: SignalRecord) -> None:
    """Lone surrogates in any field do not keep a batch out."""
    odd = "\ud800"
    strange = dataclasses.replace(signal, evidence=odd, key=odd)
    made = record("1", session=odd, model=odd, error=odd, reported={odd: odd}, signals=(strange,))
    await archive.append([made, record("2")])
    assert (await archive.totals()).requests == 2


async def test_preparation_may_run_in_a_process(tmp_path: Path, chain: Chain, record: Record) -> None:
    """Redaction and compression can be given to another process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        archive = await Archive.open(tmp_path, executor)
        await archive.append([record("1", chain("password=hunter2"))])
        assert (await archive.chain(chain("password=hunter2")[0].hash))[0].content.endswith(b'[redacted:password]"}')
        await archive.aclose()


async def test_batch_that_fails(archive: Archive, record: Record, rewrite: Rewrite) -> None:
    """A batch that does not fit on the disk leaves nothing behind, and says what to do."""
    ((pages,),) = await archive._writer.rows("PRAGMA page_count")
    await archive._writer.rows(f"PRAGMA max_page_count={pages + 3}")
    large = "".join(chr(0x4E00 + k * 7919 % 20000) for k in range(40_000))
    with pytest.raises(StoreError, match="free some space"):
        await archive.append([record("1"), record("2", rewrites=(rewrite(large),))])
    assert (await archive.totals()).requests == 0
    await archive._writer.rows("PRAGMA max_page_count=1000000")
    await archive.append([record("1")])
    assert (await archive.verify()).problems == ()


async def test_locked_archive(archive: Archive, record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    """While another process holds the archive, appending gives up; afterwards it works."""
    monkeypatch.setattr("memory.archive.PATIENCE", 0.1)
    holder = sqlite3.connect(archive._writer._path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusy):
        await archive.append([record("1")])
    holder.close()
    await archive.append([record("1")])
    assert (await archive.totals()).requests == 1


async def test_archive_that_was_deleted(archive: Archive, record: Record) -> None:
    """Appending to a folder that is gone is an error, not a loss that nobody sees."""
    shutil.rmtree(archive._writer._path.parent)
    with pytest.raises(StoreError, match="deleted or replaced"):
        await archive.append([record("1")])


def test_damaged_archive(tmp_path: Path) -> None:
    """A file that is no archive is refused with what to do."""
    (tmp_path / "archive.sqlite").write_bytes(b"not an archive" * 1000)
    with pytest.raises(StoreCorrupt, match="move it away"):
        asyncio.run(Archive.open(tmp_path))


def test_two_processes_make_one_chain(tmp_path: Path) -> None:
    """Two processes that append at once make one linear chain, and store an exchange that both have once."""
    writers = [write(tmp_path, name, 25) for name in ("one", "two")]
    for writer in writers:
        writer.communicate(timeout=120)
        assert writer.returncode == 0

    async def check() -> None:
        archive = await Archive.open(tmp_path)
        report = await archive.verify()
        assert report.problems == ()
        assert report.rewrites == 75
        assert (await archive.totals()).requests == 75
        await archive.aclose()

    asyncio.run(check())


def test_killed(tmp_path: Path) -> None:
    """After kill -9 every batch that was acknowledged is there, and what is there is whole."""
    writer = write(tmp_path, "one", 100_000)
    assert writer.stdout is not None
    seen = [int(writer.stdout.readline()) for _ in range(20)]
    os.kill(writer.pid, signals.SIGKILL)
    rest = writer.communicate()[0].splitlines()

    async def check() -> None:
        archive = await Archive.open(tmp_path)
        assert (await archive.verify()).problems == ()
        assert (await archive.totals()).requests >= 2 * (len(seen) + len(rest))
        await archive.aclose()

    asyncio.run(check())


async def test_only_the_owner_can_read(archive: Archive, record: Record) -> None:
    """Folder and files are closed to other users."""
    await archive.append([record("1")])
    folder = archive._writer._path.parent
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    assert {stat.S_IMODE(os.stat(folder / name).st_mode) for name in os.listdir(folder)} == {0o600}


def dump(database: Path) -> bytes:
    """Every value in the file, decompressed where it is compressed."""
    connection = sqlite3.connect(database)
    out = []
    for (table,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        for row in connection.execute(f"SELECT * FROM {table}"):
            out += [inflate(value) if isinstance(value, bytes) else str(value).encode() for value in row]
    connection.close()
    return b"\n".join(out)


def inflate(value: bytes) -> bytes:
    """The value as it was before compression."""
    try:
        return zlib.decompress(value)
    except zlib.error:
        return value


async def test_no_secret_in_any_file(
    archive: Archive, chain: Chain, record: Record, rewrite: Rewrite, signal: SignalRecord
) -> None:
    """Wherever a secret stands in an exchange, it is in no file, in no table and in no compressed value."""
    secret = "Zq3vT8mK1xR6bN4wL9cJ2hF7"
    folder = archive._writer._path.parent
    spill = Spill(folder / "spill")
    for k, text in enumerate(
        [f"sk-{secret}", f"password={secret}", f"Authorization: Bearer {secret}", f"ghp_{secret}"]
    ):
        messages = chain(
            text, {"role": "assistant", "content": None, "tool_calls": [{"arguments": json.dumps([text])}]}
        )
        made = record(
            f"exchange {k}",
            messages,
            reply=dataclasses.replace(messages[0], hash=f"b2:{k}", parent=messages[-1].hash),
            error=f"upstream said {text}",
            path=f"/v1/x?note={text}",
            head=json.dumps({"user": text}).encode(),
            reported={"note": text},
            rewrites=(rewrite(text, after=text, command=text, omissions=(("abc123", text),)),),
            signals=(dataclasses.replace(signal, evidence=text),),
        )
        await archive.append([made])
        spill.append(made)
    written = files(folder)
    assert {"archive.sqlite", "archive.sqlite-wal"} <= set(written)
    assert not any(secret.encode() in data for data in written.values())
    assert secret.encode() not in dump(folder / "archive.sqlite")
    assert b"[redacted:" in dump(folder / "archive.sqlite")
    taken: list[ExchangeRecord] = []

    async def take(records: object) -> None:
        taken.extend(records)  # type: ignore[arg-type]

    assert await spill.replay(take) == 4
    assert secret not in repr(taken)


@given(texts=st.lists(st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=5), min_size=1, max_size=6))
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_chain_comes_back(
    tmp_path_factory: pytest.TempPathFactory, chain: Chain, record: Record, texts: list[list[str]]
) -> None:
    """Whatever histories are stored, in whatever batches, each is given back as it was, its common parts stored once."""

    async def check() -> None:
        archive = await Archive.open(tmp_path_factory.mktemp("data"))
        for k, history in enumerate(texts):
            await archive.append([record(str(k), chain(*history))])
        for history in texts:
            assert await archive.chain(chain(*history)[-1].hash) == chain(*history)
        prefixes = {tuple(history[:n]) for history in texts for n in range(1, len(history) + 1)}
        assert await archive._database.rows("SELECT count(*) FROM messages") == [(len(prefixes),)]
        await archive.aclose()

    asyncio.run(check())


async def test_a_long_session_grows_by_what_is_new(archive: Archive, chain: Chain, record: Record) -> None:
    """Storing the hundredth turn of a session writes its new messages, not the hundred before."""
    texts = [f"message {k} " * 300 for k in range(200)]
    for k in range(1, 101):
        await archive.append([record(str(k), chain(*texts[: 2 * k]))])
    began = time.perf_counter()
    assert await archive._database.rows("SELECT count(*) FROM messages") == [(200,)]
    assert await archive.chain(chain(*texts)[-1].hash) == chain(*texts)
    assert time.perf_counter() - began < 2


async def test_a_head_that_was_stored_is_not_written_again(archive: Archive, record: Record) -> None:
    """An agent sends the same tools with every request; each exchange has them all the same, after a `forget` too."""
    first, second, third = (record(name, session=name, head=b'{"tools":["x"]}') for name in ("one", "two", "three"))
    await archive.append([first])
    await archive.append([second])
    await archive.forget("one")
    await archive.forget("two")
    await archive.append([third])

    row = await archive.exchange("three")
    assert row is not None
    assert row.head is not None
    assert await archive.content(row.head) == b'{"tools":["x"]}'
