"""Does the archive still hold what was put into it: digests, parents, the chain of the audit."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

from memory import audit
from memory.canon import digest as digest_of
from memory.canon import message_hash
from memory.db import Database
from memory.errors import StoreCorrupt
from memory.reading import PAGE, Reader
from memory.rows import inflate
from memory.types import Report

_MESSAGES = f"""SELECT hash, parent, content, exact, EXISTS (SELECT 1 FROM contents WHERE digest = content) FROM messages
  WHERE hash > ? ORDER BY hash LIMIT {PAGE}"""

_LOST = """SELECT m.hash FROM messages m WHERE m.parent IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM messages p WHERE p.hash = m.parent)"""

_SHORT = """SELECT id, rewritten, (SELECT count(*) FROM rewrites WHERE exchange = id) AS found
  FROM exchanges WHERE rewritten <> found"""


async def verify(reader: Reader, database: Database) -> Report:
    """Read everything once; each thing that is not as it was is one problem."""
    problems = [f"file: {said}" for (said,) in await database.rows("PRAGMA quick_check(20)") if said != "ok"]
    messages, elsewhere = 0, set[str]()
    async for hash_, parent, content, exact, is_stored in _messages(database):
        messages += 1
        if is_stored:
            problems += await _check_message(reader, hash_, parent, content, exact)
        else:
            elsewhere.add(hash_)
    problems += [f"message {hash_}: its content is missing" for hash_ in await _missing(reader, database, elsewhere)]
    problems += [f"message {hash_}: its parent is missing" for (hash_,) in await database.rows(_LOST)]
    rewrites, head = 0, audit.GENESIS
    async for page in reader.pages():
        for seq, facts, digest in page:
            rewrites += 1
            if seq != rewrites:
                problems.append(f"rewrite {rewrites}: missing")
                rewrites = seq
            if digest != audit.link(head, facts):
                problems.append(f"rewrite {seq}: it or the row before it was changed")
            problems += await _check_texts(reader, seq, facts)
            head = digest
    for id_, said, found in await database.rows(_SHORT):
        problems.append(f"exchange {id_}: {found} of {said} rewrites are there")
    return Report(messages=messages, rewrites=rewrites, head=head, problems=tuple(problems))


async def _messages(database: Database) -> AsyncIterator[tuple[str, str | None, str, bool, bool]]:
    last = ""
    while rows := await database.rows(_MESSAGES, (last,)):
        for hash_, parent, content, exact, is_stored in rows:
            if content is not None:
                yield hash_, parent, content, bool(exact), bool(is_stored)
        last = rows[-1][0]


async def _missing(reader: Reader, database: Database, names: set[str]) -> list[str]:
    """Messages whose contents no zip holds either; whether a zip is as it was, `memory verify` says."""
    left = set(names)
    for (session,) in await database.rows("SELECT DISTINCT session FROM uses") if left else ():
        used = {hash_ for (hash_,) in await database.rows("SELECT hash FROM uses WHERE session = ?", (session,))}
        if wanted := used & left:
            left -= (await reader.unzip(session, wanted)).keys()
    return sorted(left)


async def _check_message(reader: Reader, hash_: str, parent: str | None, content: str, exact: bool) -> list[str]:
    try:
        data = await reader.content(content)
    except StoreCorrupt as error:
        return [f"message {hash_}: {error}"]
    if data is None:
        return [f"message {hash_}: its content is missing"]
    if digest_of(data) != content or (exact and message_hash(parent, data) != hash_):
        return [f"message {hash_}: its content was changed"]
    return []


async def _check_texts(reader: Reader, seq: int, facts: str) -> list[str]:
    sealed = json.loads(facts)["texts"]
    rows = await reader.texts(seq)
    if len(rows) != len(sealed):
        return [f"rewrite {seq}: {len(rows)} of {len(sealed)} texts are there"]
    problems = []
    for (part, recall, seal), (row_recall, salt, data) in zip(sealed, rows, strict=True):
        if data is not None and (row_recall != recall or not _is_sealed(seal, salt, data)):
            problems.append(f"rewrite {seq}: the text '{part}' was changed")
    return problems


def _is_sealed(seal: str, salt: bytes, data: bytes) -> bool:
    try:
        return audit.seal(salt, inflate(data)) == seal
    except StoreCorrupt:
        return False
