"""What is forgotten is gone from every file, and the chain holds."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Callable

from memory import Archive, ExchangeRecord, Message, RewriteRecord, SignalRecord

Chain = Callable[..., tuple[Message, ...]]
Record = Callable[..., ExchangeRecord]
Rewrite = Callable[..., RewriteRecord]


def noise(name: str, size: int) -> str:
    """Text that compression leaves as it is, so that it can be looked for in files."""
    blocks = (hashlib.sha256(f"{name} {k}".encode()).digest() for k in range(size // 32))
    return base64.b64encode(b"".join(blocks)).decode()


async def test_unknown_session(archive: Archive, record: Record) -> None:
    """Forgetting what is not there changes nothing."""
    await archive.append([record("1")])
    assert await archive.forget("unknown") == 0
    assert await archive.exchange("1") is not None


async def test_session_is_emptied(
    archive: Archive, chain: Chain, record: Record, rewrite: Rewrite, signal: SignalRecord
) -> None:
    """Messages, heads, errors, evidence and rewrites are emptied; accounts and the chain stay."""
    history = chain("a", "b")
    made = record("1", history, error="broke", rewrites=(rewrite(),), signals=(signal,))
    await archive.append([made, record("2", session="other", rewrites=(rewrite("kept"),))])
    before = await archive.verify()
    assert await archive.forget("session 1") > 0
    row = await archive.exchange("1")
    assert row is not None
    assert (row.head, row.error, row.reported) == (None, None, None)
    assert row.signals[0].evidence == ""
    assert row.accounts == made.accounts
    assert [message.content for message in await archive.chain(history[-1].hash)] == [b"", b""]
    forgotten, kept = await archive.rewrite("1"), await archive.rewrite("2")
    assert forgotten is not None
    assert forgotten.texts is None
    assert kept is not None
    assert kept.texts is not None
    assert await archive.omitted("tenant", "abc123") == "two\n"
    after = await archive.verify()
    assert (after.problems, after.head, after.rewrites) == ((), before.head, 2)
    assert await archive.forget("session 1") == 0


async def test_shared_messages_stay(archive: Archive, chain: Chain, record: Record) -> None:
    """What another session holds too is not taken from it, nor a head or an image that it shares."""
    image = noise("image", 6000)
    mine, other = chain("system", "mine", image), chain("system", "other", image)
    await archive.append([record("1", mine), record("2", other, session="other")])
    await archive.forget("session 1")
    assert await archive.chain(other[-1].hash) == other
    assert [message.content for message in await archive.chain(mine[-1].hash)] == [mine[0].content, b"", b""]
    assert (await archive.verify()).problems == ()
    row = await archive.exchange("2")
    assert row is not None
    assert row.head is not None
    assert await archive.content(row.head) is not None


async def test_the_last_who_had_it(archive: Archive, chain: Chain, record: Record) -> None:
    """What two sessions share goes with the second of them."""
    shared = chain("shared")
    await archive.append([record("1", shared), record("2", shared, session="other")])
    await archive.forget("session 1")
    assert await archive.chain(shared[0].hash) == shared
    await archive.forget("other")
    assert (await archive.chain(shared[0].hash))[0].content == b""


async def test_gone_from_every_file(archive: Archive, chain: Chain, record: Record, rewrite: Rewrite) -> None:
    """No byte of it is left in a free page, in the log or in a compressed value."""
    folder = archive._writer._path.parent
    text, image = noise("text", 900), noise("image", 6000)
    await archive.append([record("1", chain(text, image), rewrites=(rewrite(text),))])
    sizes = await archive._database.rows(
        "SELECT sum(length(data)) FROM contents UNION ALL SELECT sum(length(data)) FROM blobs"
    )
    assert all(size for (size,) in sizes)
    values = await archive._database.rows(
        "SELECT data FROM contents UNION SELECT data FROM blobs UNION SELECT data FROM texts"
    )
    needles = [data[20:60] for (data,) in values if len(data) > 200]
    assert len(needles) >= 3
    await archive.forget("session 1")
    left = b"".join((folder / name).read_bytes() for name in os.listdir(folder))
    assert not any(needle in left for needle in needles)
    assert await archive._database.rows("SELECT count(*) FROM blobs UNION ALL SELECT count(*) FROM inserts") == [
        (0,),
        (0,),
    ]


async def test_what_is_said_again_is_stored_again(archive: Archive, chain: Chain, record: Record) -> None:
    """A session that goes on after it was forgotten is archived like any other."""
    history = chain("a", "b")
    await archive.append([record("1", history)])
    await archive.forget("session 1")
    assert await archive.known([message.hash for message in history]) == frozenset()
    await archive.append([record("2", history)])
    assert await archive.chain(history[-1].hash) == history
    assert (await archive.verify()).problems == ()


async def test_what_two_tenants_said_in_sessions_of_one_id(archive: Archive, chain: Chain, record: Record) -> None:
    """It stays as long as one of them has it, and goes with the other."""
    mine, theirs = chain("the same", "mine"), chain("the same", "theirs")
    await archive.append([record("1", mine), record("2", theirs, tenant="other")])
    await archive.forget("session 1", "tenant")
    assert [bool(message.content) for message in await archive.chain(mine[-1].hash)] == [True, False]
    assert await archive.chain(theirs[-1].hash) == theirs
    await archive.forget("session 1", "other")
    assert [bool(message.content) for message in await archive.chain(theirs[-1].hash)] == [False, False]


async def test_of_one_tenant(archive: Archive, chain: Chain, record: Record, rewrite: Rewrite) -> None:
    """Two tenants may call their sessions the same: what the other said stays."""
    mine, theirs = chain("mine"), chain("theirs")
    await archive.append([record("1", mine, rewrites=(rewrite(),))])
    await archive.append([record("2", theirs, tenant="other", rewrites=(rewrite(),))])
    assert await archive.forget("session 1", "nobody") == 0
    assert await archive.forget("session 1", "tenant") > 0
    assert (await archive.chain(mine[-1].hash))[0].content == b""
    assert (await archive.chain(theirs[-1].hash))[0].content != b""
    rewrites = [await archive.rewrite(id_) for id_ in ("1", "2")]
    assert [row is not None and row.texts is not None for row in rewrites] == [False, True]
    assert (await archive.verify()).problems == ()
