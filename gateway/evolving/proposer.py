"""The model that proposes rules: asked off the path, one call at a time, within its budget, about redacted text only.

offer ─wait for the budget→ prompt ─model→ reply ─read→ proposals ─admit→ PoolEvent*
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import structlog

from gateway.config import Proposer
from gateway.evolving.asking import Ask, Model, purse, redacted, redacted_prompt, without_secrets
from gateway.evolving.attempts import Attempts
from gateway.evolving.budget import Budget
from memory import redact
from rules_engine.evolution.admission import Verdict
from rules_engine.evolution.events import PoolEvent, ref_of
from rules_engine.evolution.numbers import Numbers
from rules_engine.evolution.planning import Calling, NoReply, call
from rules_engine.evolution.prompts import Missed, Prompt, Start, Uncovered
from rules_engine.evolution.proposals import Outcome, Refusal
from rules_engine.evolution.skeletons import families
from rules_engine.types import Rule

QUEUE = 64
"""Questions that may wait for the budget; what comes then is dropped, and counted."""

_COUNTED = ("failed", "proposed", "admitted", "refused", "dropped", "unaffordable")
_SILENT = frozenset({"cd", "export", "source", "set", "mkdir", "true", "sleep"})
"""What stands before a command that prints."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """What the proposer is joined to."""

    model: Model
    known: Callable[[str], Iterable[Rule]]
    """A tenant's pool; it is asked from another thread."""
    admit: Callable[[Ask, Rule], Awaitable[Verdict]]
    emit: Callable[[Sequence[PoolEvent]], Awaitable[None]]
    count: Callable[[str], int]
    """Tokens of a text."""
    clock: Callable[[], float]
    """Seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    ask: Ask
    name: tuple[str, ...]
    calling: Calling
    prompt: Prompt
    weight: int
    """Tokens of the prompt."""


class ModelProposer:
    """Takes questions at any time, and asks them when the budget allows."""

    def __init__(self, settings: Proposer, numbers: Numbers, budget: Budget, links: Links) -> None:
        self._settings = settings
        self._numbers = numbers
        self._budget = budget
        self._links = links
        self._offered: list[tuple[Ask, tuple[str, ...]]] = []
        self._waiting: list[_Waiting] = []
        self._asked: set[tuple[str, ...]] = set()
        self._day = 0
        self._turns: Counter[str] = Counter()
        """By purse: calls that a session has asked for, beside its plan."""
        self._closed: set[str] = set()
        """Purses of sessions that ended since the last look."""
        self._attempts = Attempts(settings, budget, links.model, links.count)
        self._changed = asyncio.Event()
        """Something is to be looked at: a question, an end, tokens."""
        self._rests = asyncio.Event()
        """Everything has been looked at."""
        self._counts: Counter[str] = Counter()

    @property
    def may_use_client_key(self) -> bool:
        """Whether the operator lets it use the key of the client whose session asks."""
        return self._settings.client_key

    @property
    def is_on(self) -> bool:
        """Whether there is a model to ask."""
        return bool(self._settings.model)

    def offer(self, ask: Ask) -> bool:
        """Take a question, without waiting; whether it will be asked if the budget allows."""
        name = self._name(ask)
        if not self._settings.model or name in self._asked_today():
            return False
        if len(self._offered) + len(self._waiting) >= QUEUE or not self._has_turn(ask):
            self._counts["dropped"] += 1
            return False
        self._asked.add(name)
        self._offered.append((ask, name))
        self._wake()
        return True

    def saw(self, tenant: str, session: str, tokens: int) -> None:
        """Count the tokens of a session's own traffic: a share of them may be spent on questions about it."""
        if self._settings.model:
            self._closed.discard(purse(tenant, session))
            self._budget.saw(purse(tenant, session), tokens)
        if self._waiting or self._budget.is_full():
            self._wake()

    def ended(self, tenant: str, session: str) -> None:
        """Ask what a session that has ended can still pay for, and forget the rest: it will have no more tokens."""
        name = purse(tenant, session)
        self._closed.add(name)
        del self._turns[name]
        self._wake()

    async def run(self) -> None:
        """Ask until cancelled. Nothing that goes wrong ends it."""
        await self._safely(asyncio.to_thread(self._budget.flush))
        try:
            while True:
                self._changed.clear()
                await self._look()
                if not self._changed.is_set():
                    self._rests.set()
                await self._changed.wait()
        finally:
            with suppress(OSError):
                self._budget.flush()

    async def drain(self) -> None:
        """Wait until all that can be paid for was asked, and what came of it is on record."""
        await self._rests.wait()

    def figures(self) -> Mapping[str, object]:
        """What it did and what it cost, for `stats`."""
        return {
            "model": self._settings.model,
            "calls": self._attempts.made,
            **{name: self._counts[name] for name in _COUNTED},
            "waiting": len(self._offered) + len(self._waiting),
            **self._budget.figures(),
        }

    async def _look(self) -> None:
        if self._budget.is_full():
            await self._safely(asyncio.to_thread(self._budget.flush))
        while self._offered or self._affordable():
            await self._safely(self._step())
        self._forget_unaffordable()

    async def _step(self) -> None:
        if self._offered:
            ask, name = self._offered.pop(0)
            waiting = await asyncio.to_thread(self._prepare, ask, name)
            if isinstance(waiting, Outcome):
                await self._close(ask, waiting)
            else:
                self._waiting.append(waiting)
        elif item := self._affordable():
            self._waiting.remove(item)
            await self._handle(item)

    def _wake(self) -> None:
        self._rests.clear()
        self._changed.set()

    def _forget_unaffordable(self) -> None:
        """Everything that was offered has been weighed by now."""
        left = [item for item in self._waiting if item.ask.purse not in self._closed]
        self._counts["unaffordable"] += len(self._waiting) - len(left)
        self._waiting = left
        self._closed.clear()

    def _name(self, ask: Ask) -> tuple[str, ...]:
        """What is asked only once a day: a plan a session, a rule a sort of command, a replacement a complaint."""
        match ask.about:
            case Start():
                return ("plan", ask.tenant, ask.session)
            case Uncovered():
                return ("new rule", ask.tenant, *sorted(set(families(ask.about.command)) - _SILENT))
            case Missed():
                return ("replacement", ask.tenant, ask.session, ask.about.rule.id, str(ask.about.rule.version))

    def _asked_today(self) -> set[tuple[str, ...]]:
        today = int(self._links.clock() // 86400)
        if self._day != today:
            self._day, self._asked = today, set()
        return self._asked

    def _has_turn(self, ask: Ask) -> bool:
        """A session has one plan, and so many further calls."""
        if isinstance(ask.about, Start):
            return True
        self._turns[ask.purse] += 1
        return self._turns[ask.purse] <= self._numbers.proposals_per_task

    def _prepare(self, ask: Ask, name: tuple[str, ...]) -> _Waiting | Outcome:
        calling = call(redacted(ask.about), lambda: self._links.known(ask.tenant), self._numbers)
        try:
            prompt = redacted_prompt(next(calling))
        except StopIteration as end:
            outcome: Outcome = end.value
            return outcome
        return _Waiting(ask, name, calling, prompt, self._attempts.weigh(prompt))

    def _affordable(self) -> _Waiting | None:
        return next((item for item in self._waiting if self._attempts.can_afford(item.ask, item.weight)), None)

    async def _handle(self, item: _Waiting) -> None:
        try:
            text = await self._attempts.answer(item.ask, item.prompt, item.weight)
        except NoReply as error:
            self._counts["failed"] += 1
            self._asked.discard(item.name)
            outcome = await asyncio.to_thread(_end, item.calling.throw, error)
        else:
            outcome = await asyncio.to_thread(_end, item.calling.send, text)
        await self._close(item.ask, outcome)

    async def _close(self, ask: Ask, outcome: Outcome) -> None:
        outcome = without_secrets(outcome)
        events = [self._refused(ask, outcome, refusal) for refusal in outcome.refused]
        for rule in outcome.proposed:
            events += await self._judge(ask, rule)
        self._counts.update(event.name for event in events)
        await self._links.emit(events)
        if ask.then:
            ask.then(outcome)

    async def _judge(self, ask: Ask, rule: Rule) -> list[PoolEvent]:
        try:
            verdict = await self._links.admit(ask, rule)
            rule, admitted, data = verdict.rule, verdict.admitted, {"reason": redact(verdict.reason), **verdict.figures}
        except Exception as error:
            admitted, data = False, {"reason": f"admission failed: {type(error).__name__}"}
        about = {"tenant": ask.tenant, "session": ask.session, "time": self._links.clock()}
        proposed = PoolEvent(name="proposed", rule=rule, **about)  # type: ignore[arg-type]
        name = "admitted" if admitted else "refused"
        return [proposed, PoolEvent(name=name, ref=ref_of(rule), data=data, **about)]  # type: ignore[arg-type]

    def _refused(self, ask: Ask, outcome: Outcome, refusal: Refusal) -> PoolEvent:
        """It names no rule: the pool's may be called the same."""
        data = {"rule_id": refusal.rule_id, "reason": refusal.reason, "call": outcome.call}
        return PoolEvent(name="refused", tenant=ask.tenant, session=ask.session, time=self._links.clock(), data=data)

    async def _safely(self, work: Awaitable[None]) -> None:
        try:
            await work
        except Exception as error:
            self._counts["failed"] += 1
            structlog.get_logger("taco").warning("a question to the proposer was lost", reason=repr(error))


def _end(step: Callable[[Any], object], value: object) -> Outcome:
    try:
        step(value)
    except StopIteration as end:
        outcome: Outcome = end.value
        return outcome
    raise AssertionError("a call asks once")
