"""A proposer at work, beside a model and an admission that a test chooses, and all that comes out of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gateway.config import Proposer
from gateway.evolving.asking import Ask, Model
from gateway.evolving.budget import Budget
from gateway.evolving.proposer import Links, ModelProposer
from rules_engine.evolution.events import PoolEvent
from rules_engine.evolution.numbers import Numbers
from rules_engine.evolution.pool import EMPTY, fold
from rules_engine.evolution.prompts import Prompt
from rules_engine.evolution.proposals import Outcome
from rules_engine.seeds import SEEDS
from rules_engine.types import Rule

Judge = Callable[[Ask, Rule], Awaitable[Any]]
"""What admission says."""

Said = str | Exception | tuple[str, Mapping[str, Any]] | None
"""What a model says, raises, or says with a usage; `None`: it never answers."""

NOW = 1e9
PATIENCE = 60.0


class Busy(Exception):
    """What a provider that is busy makes litellm raise."""

    status_code = 503


class Unwelcome(Exception):
    """The same for a key that is not known."""

    status_code = 401


def saying(*lines: Said) -> Model:
    """A model that says these, the last of them to all further questions."""
    left = list(lines)

    async def model(prompt: Prompt, key: str | None) -> tuple[str, Mapping[str, Any]]:
        said = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(said, Exception):
            raise said
        if said is None:
            await asyncio.Event().wait()
        return said if isinstance(said, tuple) else (str(said), {})

    return model


@dataclass
class House:
    """A proposer, what comes out of it, and the time of its clock."""

    proposer: ModelProposer
    asked: list[tuple[Prompt, str | None]] = field(default_factory=list)
    """Prompts that reached the model, each with the key."""
    events: list[PoolEvent] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    now: float = NOW

    async def ask(self, ask: Ask) -> Outcome:
        """What came of a question."""
        before = len(self.outcomes)
        assert self.proposer.offer(replace(ask, then=self.outcomes.append))
        await self.until(lambda: len(self.outcomes) > before)
        return self.outcomes[-1]

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait for something that the proposer does."""
        async with asyncio.timeout(PATIENCE):
            while not holds():  # noqa: ASYNC110
                await asyncio.sleep(0.002)


@asynccontextmanager
async def house(
    folder: Path, given: Proposer, model: Model, judge: Judge, count: Callable[[str], int], traffic: int = 10**7
) -> AsyncIterator[House]:
    """A proposer that knows the seed rules; its session has had so much traffic."""

    async def listen(prompt: Prompt, key: str | None) -> tuple[str, Mapping[str, Any]]:
        made.asked.append((prompt, key))
        return await model(prompt, key)

    async def emit(events: Sequence[PoolEvent]) -> None:
        made.events.extend(events)

    def known(tenant: str) -> list[Rule]:
        return [*SEEDS, *(entry.rule for entry in fold(EMPTY, made.events).entries.values())]

    budget = Budget(folder / "budget", given.daily_tokens, given.share, lambda: NOW)
    links = Links(model=listen, known=known, admit=judge, emit=emit, count=count, clock=lambda: made.now)
    made = House(ModelProposer(given, Numbers(), budget, links))
    made.proposer.saw("t", "s", traffic)
    task = asyncio.create_task(made.proposer.run())
    try:
        yield made
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
