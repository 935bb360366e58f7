"""Whatever is changed in the archive shows."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable

import pytest

from memory import Archive, ExchangeRecord, Message, RewriteRecord

Chain = Callable[..., tuple[Message, ...]]
Record = Callable[..., ExchangeRecord]
Rewrite = Callable[..., RewriteRecord]

TAMPERING = {
    "a message's content": ("UPDATE contents SET data = ?", "content was changed"),
    "a message's bytes": ("UPDATE contents SET data = x'00'", "damaged"),
    "a missing content": ("DELETE FROM contents", "content is missing"),
    "a missing message": ("DELETE FROM messages WHERE parent IS NULL", "parent is missing"),
    "a fact": (
        "UPDATE rewrites SET facts = replace(facts, '\"tokens_after\":3', '\"tokens_after\":4') WHERE seq = 2",
        "rewrite 2: it or",
    ),
    "a digest": ("UPDATE rewrites SET digest = 'b2:0' WHERE seq = 2", "rewrite 2: it or"),
    "a row left out": ("DELETE FROM rewrites WHERE seq = 2", "rewrite 2: missing"),
    "rows cut off the end": ("DELETE FROM rewrites WHERE seq > 1", "0 of 1 rewrites are there"),
    "a text": (
        "UPDATE texts SET data = ? WHERE rewrite = 2 AND ordinal = 2",
        "rewrite 2: the text 'after' was changed",
    ),
    "a text's bytes": (
        "UPDATE texts SET data = x'00' WHERE rewrite = 2 AND ordinal = 1",
        "rewrite 2: the text 'before'",
    ),
    "a recall id": ("UPDATE texts SET recall = 'fff000' WHERE rewrite = 3", "rewrite 3: the text"),
    "a missing text": ("DELETE FROM texts WHERE rewrite = 2 AND ordinal = 0", "rewrite 2: 3 of 4 texts"),
}


@pytest.fixture
async def filled(archive: Archive, chain: Chain, record: Record, rewrite: Rewrite) -> Archive:
    """An archive with a history and three rewrites."""
    history = chain("a", "b", "password=hunter2")
    await archive.append([record(str(k), history[:k], rewrites=(rewrite(f"before {k}"),)) for k in (1, 2, 3)])
    return archive


async def test_untouched(filled: Archive) -> None:
    """An archive that nobody touched has no problems; the end of its chain is told."""
    report = await filled.verify()
    assert report.problems == ()
    assert (report.messages, report.rewrites) == (3, 3)
    assert report.head == (await filled.rewrites(1))[0].digest


async def test_many_rows(archive: Archive, chain: Chain, record: Record, rewrite: Rewrite) -> None:
    """Archives of more than one page are read to their end."""
    await archive.append([record(str(k), chain(str(k)), rewrites=(rewrite(),)) for k in range(450)])
    report = await archive.verify()
    assert (report.messages, report.rewrites, report.problems) == (450, 450, ())


@pytest.mark.parametrize(("statement", "problem"), TAMPERING.values(), ids=TAMPERING)
async def test_tampering_shows(filled: Archive, statement: str, problem: str) -> None:
    """A change by another hand is one of the problems that are named."""
    connection = sqlite3.connect(filled._writer._path)
    changed = connection.execute(statement, (zlib.compress(b"{}"),) if "?" in statement else ()).rowcount
    connection.commit()
    connection.close()
    assert changed
    report = await filled.verify()
    assert any(problem in found for found in report.problems), report.problems
