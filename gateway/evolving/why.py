"""Why a tool result was rewritten as it was, or not at all: asked of the archive, answered by the pool as it is now."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from gateway.evolving import tasks
from gateway.evolving.learning import archived
from gateway.evolving.pools import Pools
from gateway.identity import Observer, chain, declares_shell, last_assistant
from memory import Archive
from rules_engine import Context, Observation, Settings
from rules_engine.evolution.selection import select
from rules_engine.explaining import Reason, explain


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """One observation, and what each rule of its tenant's pool has to do with it."""

    observation: Observation
    fired_then: tuple[str, ...]
    """Rules and kinds on record for it, where it was rewritten."""
    reasons: tuple[Reason, ...]


async def why(archive: Archive, pools: Pools, settings: Settings, name: str) -> list[Explained]:
    """About one rewrite, by its id in the audit, or about the new tool results of a request, by the request's id."""
    row = await archive.rewrite(name) if name.isdigit() else None
    exchange = await archive.exchange(row.exchange if row else name)
    if exchange is None or exchange.tip is None:
        return []
    conversation = archived(await archive.chain(exchange.tip))
    rewrites = [found for id_ in exchange.rewrites if (found := await archive.rewrite(id_)) is not None]
    fired = {found.key: tuple(rule for rule, _ in found.rules) for found in rewrites}
    seen = Observer().observe(conversation, exchange.tenant, chain(conversation, exchange.tenant))
    chosen = select(pools.of(exchange.tenant), tasks.facts(conversation, ""), settings, exchange.session)
    was_small = "small conversation" in exchange.kept  # it hangs on the whole prompt and its model
    context = Context(shell=declares_shell(conversation, seen), chars=0 if was_small else sys.maxsize)
    left_out = tuple(Reason(rule=ref, fired=False, words=f"not chosen: {reason}") for ref, reason in chosen.excluded)
    newest = [item.observation for one in seen if one.at > last_assistant(conversation) for item in one.items]
    return [
        Explained(
            observation=observation,
            fired_then=fired.get(observation.key, ()),
            reasons=(*explain(observation, chosen.ruleset(settings), context), *left_out),
        )
        for observation in newest
        if row is None or observation.key == row.key or observation.text == (row.texts.before if row.texts else None)
    ]
