"""What a gateway learns from its own archive: rules mined from a tenant's sessions, each with what admission said of it.

archive ─conversation→ Turn* ─samples→ Sample* ─learn→ Verdict* → PoolEvent*
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

from gateway import processes
from gateway.asking import Ask
from gateway.learning import read_turns
from gateway.recordings import RecordingError, Session
from memory import Archive
from rules_engine import Observation, Rule, Sample
from rules_engine.admission import Verdict, admit
from rules_engine.events import PoolEvent, content_key, ref_of
from rules_engine.lessons import learn
from rules_engine.pool import Pool, Stage
from rules_engine.prompts import Start
from rules_engine.use import samples

SESSIONS = 200
"""Sessions that are learned from, the latest."""


async def study(data: Path, pool: Pool, tenant: str, time: float) -> tuple[PoolEvent, ...]:
    """What a tenant's sessions teach, in a process of its own: rules that its pool does not have yet.

    One that was refused may be proposed again once it is admitted: there may be more to show for it than there was.
    """
    verdicts = await processes.run(verdicts_of, data, tenant)
    known = {entry.content: entry.stage for entry in pool.entries.values()}
    fresh = [verdict for verdict in verdicts if _is_news(verdict, known.get(content_key(verdict.rule)))]
    return tuple(event for verdict in fresh for event in _events(verdict, _named(verdict.rule, pool), tenant, time))


async def judge(data: Path, ask: Ask, rule: Rule) -> Verdict:
    """What admission says of a rule that a model proposed, over its tenant's sessions and the output that it was asked about."""
    verdict: Verdict = await processes.run(verdict_on, data, ask.tenant, rule, _cause(ask))
    return verdict


def verdict_on(data: Path, tenant: str, rule: Rule, cause: Sample | None) -> Verdict:
    """The same, in this process."""
    with asyncio.Runner() as runner:
        given = runner.run(_samples(data, tenant))
    return admit(rule, [cause, *given] if cause else given)


def _cause(ask: Ask) -> Sample | None:
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


def _named(rule: Rule, pool: Pool) -> Rule:
    """The rule as a version that the pool does not have."""
    versions = [version for name, version in pool.entries if name == rule.id]
    return replace(rule, version=max(versions, default=0) + 1)


def _events(verdict: Verdict, rule: Rule, tenant: str, time: float) -> tuple[PoolEvent, PoolEvent]:
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
    for name in await archive.sessions(tenant, SESSIONS):
        messages = [json.loads(m.content) for m in await archive.conversation(name) if m.content]
        try:
            turns = read_turns(Session(name=name, model=None, messages=messages, tools=()))
        except RecordingError:
            continue  # so much of it was forgotten that it is no conversation any more
        for sample in samples(turns, name, name):
            yield sample
