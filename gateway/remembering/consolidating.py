"""After a verified run of L4: the upper levels take up what it archived, what was proved, and what recurs.

archived sessions ─keys→ L1; exchanges ─prove→ L2; sessions ─recur→ candidates ─policy→ L2, L3; rule pool → L3
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from gateway.config import Config
from gateway.errors import BadRequest
from gateway.recording.prices import PriceBook
from gateway.remembering.facts import remember, write_pool
from gateway.remembering.recurring import propose, recall, recur
from gateway.remembering.topics import keys_of
from gateway.rereading import reread
from memory import Archive
from memory.levels import Archived, Levels
from rules_engine.evolution.pool import Pool


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidated:
    """What became of it."""

    keys: int
    """Keys that lead to the sessions."""
    candidates: tuple[str, ...]
    """Those that are up now."""
    promoted: tuple[str, ...]
    """Entries that the policy made of candidates."""
    problems: tuple[str, ...]
    """What was refused, and why."""


async def consolidate(
    archive: Archive,
    levels: Levels,
    tenant: str,
    config: Config,
    prices: PriceBook,
    pool: Pool,
    archived: Sequence[tuple[str, str]],
) -> Consolidated:
    """Bring a tenant's upper levels up to date; `archived` are the ids of sessions with their names ``YYYY-MM/NAME``.

    It reads files and waits for them: call it in a process of its own, or in a thread with a loop.
    """
    said = {id_: await _said(archive, id_, tenant) for id_, _ in archived}
    others = list(said.values())
    sessions = [
        Archived(id=id_, name=name, keys=keys_of(said[id_], [o for o in others if o is not said[id_]]))
        for id_, name in archived
    ]
    problems = [*levels.archived(sessions)]
    problems += await remember(archive, levels, tenant, config.upstreams, prices)
    write_pool(levels, pool)
    found = recur([steps async for steps in recall(archive, tenant)])
    up, refused = propose(levels, found)
    promoted = levels.promote_due(config.memory.promote_sessions)
    return Consolidated(
        keys=sum(len(session.keys) for session in sessions),
        candidates=tuple(candidate.id for candidate in up if candidate.state == "open"),
        promoted=promoted,
        problems=(*problems, *refused),
    )


async def _said(archive: Archive, session: str, tenant: str) -> list[str]:
    """What the user of a session said before the first answer: later, tools speak in the user's place, too."""
    messages = [message.content for message in await archive.conversation(session, tenant)]
    try:
        conversation, _ = reread([json.loads(content) if content else None for content in messages])
    except BadRequest:
        return []  # all of it was forgotten
    told = [placed.message for placed in conversation.messages]
    first = next((at for at, message in enumerate(told) if message.role == "assistant"), len(told))
    return [message.words for message in told[:first] if message.role == "user"]
