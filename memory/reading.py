"""What can be asked of the archive: one exchange, a chain of messages, sums, rewrites."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Collection, Sequence
from pathlib import Path
from typing import Any

from memory import contents
from memory.db import Database, Row
from memory.L4_raw_sessions.zipped import Zipped
from memory.rows import inflate
from memory.types import ExchangeRow, LeftOff, Message, RewriteRow, RewriteTexts, SignalRecord, Totals

PATIENCE = 2.0

PAGE = 200

_STEP = re.compile(r'\.(?:"((?:[^"\\]|\\.)*)"|([^."\[]+))')

_CHAIN = """WITH RECURSIVE up (hash, depth) AS (
    SELECT ?, 0 UNION ALL
    SELECT parent, depth + 1 FROM up JOIN messages USING (hash) WHERE parent IS NOT NULL AND depth < 100000)
  SELECT hash, parent, role, content FROM up JOIN messages USING (hash) ORDER BY depth DESC"""

_EXAMPLES = """SELECT id, max(ended) FROM exchanges WHERE tenant = ? AND tip IS NOT NULL
  GROUP BY upstream, model, status, error, stream, coalesce(json_extract(reported, '$.prompt_tokens_details.cached_tokens'),
    json_extract(reported, '$.prompt_cache_hit_tokens'), json_extract(reported, '$.cached_tokens'),
    json_extract(reported, '$.input_tokens_details.cached_tokens'), json_extract(reported, '$.cache_read_input_tokens'), 0) > 0
  ORDER BY 2 DESC LIMIT 1000"""

_LAST = """SELECT model, started, tip FROM exchanges
  WHERE session = ? AND tenant = ? AND tip IS NOT NULL AND status < 400 ORDER BY ended DESC LIMIT 1"""

_NAMES = "SELECT hash FROM messages WHERE content = ? LIMIT 10"

_HOLDERS = """SELECT session, count(*) FROM uses WHERE hash IN (SELECT value FROM json_each(?))
  GROUP BY session ORDER BY 2 DESC LIMIT 10"""

_REWRITE = "SELECT seq, facts, digest FROM rewrites"
_OF = " AND exchange IN (SELECT id FROM exchanges WHERE session = ?1 AND tenant = ?2)"


class Reader:
    """Answers from a connection of its own, beside whatever is being written."""

    def __init__(self, folder: Path, database: Database) -> None:
        self._database = database
        self._zipped = Zipped(folder)

    async def known(self, hashes: Sequence[str]) -> frozenset[str]:
        """Those messages whose content is stored, here and not in a zip only."""
        sql = """SELECT hash FROM messages JOIN contents ON digest = content
          WHERE hash IN (SELECT value FROM json_each(?))"""
        return frozenset(hash_ for (hash_,) in await self._rows(sql, json.dumps(hashes)))

    async def stored(self, digests: Sequence[str]) -> frozenset[str]:
        """Those contents that are there, and not in a zip only."""
        sql = "SELECT digest FROM contents WHERE digest IN (SELECT value FROM json_each(?))"
        return frozenset(digest for (digest,) in await self._rows(sql, json.dumps(digests)))

    async def content(self, digest: str) -> bytes | None:
        """A content by its digest, blobs put back; `None` if it was forgotten."""
        stored = await self._content(digest)
        if stored is not None:
            return stored
        names = [hash_ for (hash_,) in await self._rows(_NAMES, digest)]
        found = await self.archived(names) if names else await self._archived_head(digest)
        return next(iter(found.values()), None)

    async def archived(self, hashes: Collection[str]) -> dict[str, bytes]:
        """Contents of messages that stand in zips only, by their hashes: those that are there."""
        left, out = set(hashes), dict[str, bytes]()
        while left:
            before = len(left)
            for session, _ in await self._rows(_HOLDERS, json.dumps(sorted(left))):
                out |= await self.unzip(session, left)
                left -= out.keys()
                if not left:
                    break
            if len(left) == before:
                break
        return out

    async def _archived_head(self, digest: str) -> dict[str, bytes]:
        sql = "SELECT DISTINCT session FROM exchanges WHERE head = ? LIMIT 10"
        for (session,) in await self._rows(sql, digest):
            if found := await self.unzip(session, {digest}):
                return found
        return {}

    async def unzip(self, session: str, wanted: Collection[str]) -> dict[str, bytes]:
        """Contents of a session's messages, by their hashes, from its zips; of heads, by their digests."""
        out: dict[str, bytes] = {}
        for (tenant,) in await self._rows("SELECT DISTINCT tenant FROM exchanges WHERE session = ?", session):
            out |= await asyncio.to_thread(self._zipped.read, tenant, session, set(wanted))
        return out

    async def _content(self, digest: str) -> bytes | None:
        return await contents.read(self._database, digest, PATIENCE)

    async def chain(self, tip: str) -> tuple[Message, ...]:
        """The history that ends with this message. A message that was forgotten has no content."""
        rows = await self._rows(_CHAIN, tip)
        stored = {hash_: await self._content(digest) for hash_, _, _, digest in rows if digest}
        zipped = await self.archived([hash_ for hash_, content in stored.items() if content is None])
        return tuple(
            Message(hash=hash_, parent=parent, role=role, content=stored.get(hash_) or zipped.get(hash_, b""))
            for hash_, parent, role, _ in rows
        )

    async def depth(self, tip: str) -> int:
        """How many messages the history has that ends with this one."""
        return len(await self._rows(_CHAIN, tip))

    async def sessions(self, tenant: str | None, limit: int) -> list[str]:
        """A tenant's sessions that were heard of last, the latest first; `None`: everybody's."""
        whose = "coalesce(?, tenant) = tenant AND tip IS NOT NULL"
        sql = f"SELECT session FROM exchanges WHERE {whose} GROUP BY session ORDER BY max(ended) DESC LIMIT ?"
        return [session for (session,) in await self._rows(sql, tenant, limit)]

    async def left_off(self, session: str, tenant: str) -> LeftOff | None:
        """Where a tenant's session stood when it was last heard of; `None` if it never was."""
        rows = await self._rows(_LAST, session, tenant)
        if not rows:
            return None
        model, started, tip = rows[0]
        names = frozenset(hash_ for hash_, *_ in await self._rows(_CHAIN, tip))
        return LeftOff(model=model, started=started, messages=names)

    async def conversation(self, session: str, tenant: str | None = None) -> tuple[Message, ...]:
        """What was said in a session up to its last answer; messages that were forgotten have no content.

        Clients choose ids of sessions, so two tenants may have chosen the same; without a tenant it is the one heard last.
        """
        sql = """SELECT tip, reply FROM exchanges WHERE session = ?1 AND tip IS NOT NULL AND (?2 IS NULL OR tenant = ?2)
          ORDER BY ended DESC LIMIT 1"""
        rows = await self._rows(sql, session, tenant)
        return await self.chain(rows[0][1] or rows[0][0]) if rows else ()

    async def examples(self, tenant: str) -> list[str]:
        """Of each kind of a tenant's exchanges the id of the latest: upstream, model, status, error, streamed, cached."""
        return [id_ for id_, _ in await self._rows(_EXAMPLES, tenant)]

    async def exchange(self, id_: str) -> ExchangeRow | None:
        """One exchange by its id."""
        rows = await self._rows("SELECT * FROM exchanges WHERE id = ?", id_)
        if not rows:
            return None
        *plain, stream, retry, status, outcome, error, tip, head, reply, reported, accounts, kept, _ = rows[0]
        names = list(ExchangeRow.__dataclass_fields__)
        rewrites = await self._rows("SELECT seq FROM rewrites WHERE exchange = ? ORDER BY seq", id_)
        return ExchangeRow(
            **dict(zip(names, plain, strict=False)),
            stream=bool(stream),
            retry=bool(retry),
            status=status,
            outcome=outcome,
            error=error,
            tip=tip,
            head=head,
            reply=reply,
            reported=None if reported is None else json.loads(reported),
            accounts=json.loads(accounts),
            kept=json.loads(kept),
            rewrites=tuple(str(seq) for (seq,) in rewrites),
            signals=await self._signals(id_),
        )

    async def _signals(self, exchange: str) -> tuple[SignalRecord, ...]:
        sql = "SELECT name, key, rules, evidence, weight FROM signals WHERE exchange = ? ORDER BY rowid"
        return tuple(
            SignalRecord(name=name, key=key, rules=_rules(json.loads(rules)), evidence=evidence, weight=weight)
            for name, key, rules, evidence, weight in await self._rows(sql, exchange)
        )

    async def totals(self, since: float | None = None) -> Totals:
        """Sums over all exchanges, or over those that ended at `since` or later."""
        at = float("-inf") if since is None else since
        counts = (
            "SELECT count(*), count(DISTINCT CASE WHEN model IS NOT NULL THEN session END), total(retry), total(rewritten)"
            " FROM exchanges WHERE ended >= ?"
        )
        ((requests, sessions, retries, rewrites),) = await self._rows(counts, at)
        models: dict[str, dict[str, Any]] = {}
        for model, count in await self._rows(
            "SELECT coalesce(model, ''), count(*) FROM exchanges WHERE ended >= ? GROUP BY 1", at
        ):
            models[model] = {"requests": count, "accounts": {}}
        sums = """SELECT coalesce(model, ''), fullkey, sum(atom) FROM exchanges, json_tree(accounts)
          WHERE ended >= ? AND json_tree.type IN ('integer', 'real') GROUP BY 1, 2"""
        accounts: dict[str, Any] = {}
        for model, path, value in await self._rows(sums, at):
            add(accounts, path, value)
            add(models[model]["accounts"], path, value)
        kept = "SELECT key, sum(value) FROM exchanges, json_each(kept) WHERE ended >= ? GROUP BY 1"
        signals = "SELECT name, count(*) FROM signals JOIN exchanges ON id = exchange WHERE ended >= ? GROUP BY 1"
        return Totals(
            requests=requests,
            sessions=sessions,
            retries=int(retries),
            rewrites=int(rewrites),
            outcomes=dict(await self._rows("SELECT outcome, count(*) FROM exchanges WHERE ended >= ? GROUP BY 1", at)),
            kept=dict(await self._rows(kept, at)),
            signals=dict(await self._rows(signals, at)),
            accounts=accounts,
            models=models,
        )

    async def rewrites(self, limit: int, session: str | None = None, tenant: str | None = None) -> list[RewriteRow]:
        """The newest rewrites, newest first, without their texts: of all, of a session, or of a tenant's session."""
        among = "" if session is None else " WHERE session = ?1" + (_OF if tenant is not None else "")
        rows = await self._rows(f"{_REWRITE}{among} ORDER BY seq DESC LIMIT ?3", session, tenant, limit)
        return [row_of(*row) for row in rows]

    async def rewrite(self, id_: str) -> RewriteRow | None:
        """One rewrite with its texts."""
        rows = await self._rows(f"{_REWRITE} WHERE seq = ?", id_)
        if not rows:
            return None
        ((seq, facts, digest),) = rows
        return row_of(seq, facts, digest, await self.texts(seq))

    async def texts(self, seq: int) -> list[Row]:
        """(recall id, salt, text) of a rewrite, in order."""
        return await self._rows("SELECT recall, salt, data FROM texts WHERE rewrite = ? ORDER BY ordinal", seq)

    async def pages(self) -> AsyncIterator[list[Row]]:
        """All rows of the audit, from the first, some at a time."""
        seq = 0
        while rows := await self._rows(f"{_REWRITE} WHERE seq > ? ORDER BY seq LIMIT {PAGE}", seq):
            yield rows
            seq = rows[-1][0]

    async def omitted(self, tenant: str, recall: str) -> str | None:
        """What a mark hides; `None` where nobody knows, or where one id stands for different texts."""
        sql = "SELECT data FROM texts WHERE recall = ? AND tenant = ? AND data IS NOT NULL"
        found = {_text(data) for (data,) in await self._rows(sql, recall, tenant)}
        return found.pop() if len(found) == 1 else None

    async def _rows(self, sql: str, *values: object) -> list[Row]:
        return await self._database.rows(sql, values, patience=PATIENCE)


def add(sums: dict[str, Any], path: str, value: float) -> None:
    """Add a number to nested sums, at a path as SQLite writes it. Members of lists are no sums."""
    if "[" in path:
        return
    *names, last = [json.loads(f'"{quoted}"') if quoted else plain for quoted, plain in _STEP.findall(path)]
    for name in names:
        sums = sums.setdefault(name, {})
    sums[last] = sums.get(last, 0) + value


def row_of(seq: int, facts: str, digest: str, texts: Sequence[Row] = ()) -> RewriteRow:
    """A link of the chain, as it is shown."""
    fields = json.loads(facts)
    del fields["texts"]
    rules = _rules(fields.pop("rules"))
    return RewriteRow(id=str(seq), digest=digest, rules=rules, texts=_texts(texts), **fields)


def _texts(rows: Sequence[Row]) -> RewriteTexts | None:
    if not rows or rows[0][2] is None:
        return None
    command, before, after, *omitted = [(recall, _text(data)) for recall, _, data in rows]
    return RewriteTexts(command=command[1], before=before[1], after=after[1], omissions=tuple(omitted))


def _text(data: bytes) -> str:
    return inflate(data).decode()


def _rules(rules: Sequence[Sequence[Any]]) -> tuple[tuple[str, int], ...]:
    return tuple((id_, version) for id_, version in rules)
