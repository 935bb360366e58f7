"""What a gateway learns from its own archive: rules mined from a tenant's sessions, each with what admission said of it.

archive ─conversation→ Turn* ─samples→ Sample* ─learn→ Verdict* → PoolEvent*
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

from gateway import processes
from gateway.errors import BadRequest
from gateway.evolving import tasks
from gateway.evolving.asking import Ask
from gateway.evolving.learning import archived, turns
from gateway.evolving.pools import SHARED
from gateway.identity import Observer, chain
from memory import Archive
from rules_engine import Observation, Rule, Sample
from rules_engine.evolution.admission import Verdict, admit
from rules_engine.evolution.events import PoolEvent, content_key, ref_of
from rules_engine.evolution.lessons import learn
from rules_engine.evolution.pool import Pool, Stage
from rules_engine.evolution.prompts import Start
from rules_engine.evolution.use import samples
from rules_engine.kinds import LOSSLESS

SESSIONS = 200
"""Sessions that are learned from, the latest."""
MOST = 1000
"""Rewrites of a session that are looked at."""


async def study(data: Path, pool: Pool, tenant: str, time: float) -> tuple[PoolEvent, ...]:
    """What a tenant's sessions teach, in a process of its own: rules that its pool does not have yet.

    One that was refused may be proposed again once it is admitted: there may be more to show for it than there was.
    """
    verdicts = await processes.run(verdicts_of, data, tenant)
    known = {entry.content: entry.stage for entry in pool.entries.values()}
    fresh = [verdict for verdict in verdicts if _is_news(verdict, known.get(content_key(verdict.rule)))]
    return tuple(event for verdict in fresh for event in events_of(verdict, pool, tenant, time))


async def judge(data: Path, ask: Ask, rule: Rule) -> Verdict:
    """What admission says of a rule that a model proposed, over its tenant's sessions and the output that it was asked about."""
    verdict: Verdict = await processes.run(verdict_on, data, ask.tenant, rule, sample_of(ask))
    return verdict


def verdict_on(data: Path, tenant: str, rule: Rule, cause: Sample | None) -> Verdict:
    """The same, in this process."""
    with asyncio.Runner() as runner:
        given = runner.run(_samples(data, tenant))
    return admit(rule, [cause, *given] if cause else given)


def sample_of(ask: Ask) -> Sample | None:
    """The output that a question is about, of which nothing was used; `None` where it is about none."""
    about = ask.about
    if isinstance(about, Start):
        return None
    observation = Observation(key="", tool="", command=about.command, exit_code=None, text=about.text)
    return Sample(observation=observation, used=frozenset(), known=frozenset(), session=ask.session, source=ask.session)


def verdicts_of(data: Path, tenant: str) -> tuple[Verdict, ...]:
    """A verdict on every rule that a tenant's sessions suggest."""
    with asyncio.Runner() as runner:
        given = runner.run(_samples(data, tenant))
    return learn(lambda: given)


def _is_news(verdict: Verdict, stage: Stage | None) -> bool:
    return stage is None or (verdict.admitted and stage == "refused")


def _as_new_version(rule: Rule, pool: Pool) -> Rule:
    """The rule as a version that the pool does not have."""
    versions = [version for name, version in pool.entries if name == rule.id]
    return replace(rule, version=max(versions, default=0) + 1)


def events_of(verdict: Verdict, pool: Pool, tenant: str, time: float) -> tuple[PoolEvent, PoolEvent]:
    """What the pool is told of a verdict: that the rule was proposed, as a new version, and what admission said."""
    rule = _as_new_version(verdict.rule, pool)
    data = {"reason": verdict.reason, **verdict.figures}
    return (
        PoolEvent(name="proposed", rule=rule, tenant=tenant, time=time),
        PoolEvent(
            name="admitted" if verdict.admitted else "refused",
            ref=ref_of(rule),
            tenant=tenant,
            time=time,
            data=data,
        ),
    )


async def _samples(data: Path, tenant: str) -> list[Sample]:
    archive = await Archive.open(data)
    try:
        return [sample async for sample in _read(archive, tenant)]
    finally:
        await archive.aclose()


async def _read(archive: Archive, tenant: str) -> AsyncIterator[Sample]:
    whose = None if tenant == SHARED else tenant
    for name in await archive.sessions(whose, SESSIONS):
        try:
            conversation = archived(await archive.conversation(name, whose))
        except BadRequest:
            continue  # so much of it was forgotten that it is no conversation any more
        seen = Observer().observe(conversation, tenant, chain(conversation, tenant))
        place = tasks.facts(conversation, "").repository or name
        unseen = await _unseen(archive, name, whose)
        for sample in samples(turns(conversation, seen), name, place):
            if sample.observation.text not in unseen:
                yield sample


async def _unseen(archive: Archive, session: str, tenant: str | None) -> frozenset[str]:
    """Results of which the agent did not see all: that it did not use the rest says nothing."""
    made = await archive.rewrites(MOST, session, tenant)
    rows = [row for row in made if any(name not in LOSSLESS for name, _ in row.rules)]
    found = [await archive.rewrite(row.id) for row in rows]
    return frozenset(row.texts.before for row in found if row and row.texts)
