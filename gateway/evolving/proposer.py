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

from gateway.config import Proposer, secret
from gateway.evolving.asking import Ask, Model, purse, redacted, redacted_prompt, reported, without_secrets
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
_PAUSE = 1.0
"""Seconds before a further attempt; each is twice as long as the one before."""
_LATER = frozenset({408, 409, 425, 429})
"""Statuses below 500 after which a further attempt makes sense."""

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
    tokens: int
    """Of the prompt."""

    @property
    def purse(self) -> str:
        """Whose tokens it costs."""
        return purse(self.ask.tenant, self.ask.session)


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
        self._sessions: Counter[str] = Counter()
        self._longest_reply = 2 * settings.reply_tokens  # a model may not keep to its limit
        self._changed = asyncio.Event()
        self._counts: Counter[str] = Counter()

    @property
    def may_use_client_key(self) -> bool:
        """Whether the operator lets it use the key of the client whose session asks."""
        return self._settings.client_key

    @property
    def is_on(self) -> bool:
        """There is a model to ask."""
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
        self._changed.set()
        return True

    def saw(self, tenant: str, session: str, tokens: int) -> None:
        """Count what a session costs without us: its share is what it may cost with us."""
        if self._settings.model:
            self._budget.saw(purse(tenant, session), tokens)
        if self._waiting or self._budget.is_full():
            self._changed.set()

    def ended(self, tenant: str, session: str) -> None:
        """Forget what a session could not afford."""
        name = purse(tenant, session)
        before = len(self._offered) + len(self._waiting)
        self._offered = [item for item in self._offered if purse(item[0].tenant, item[0].session) != name]
        self._waiting = [item for item in self._waiting if item.purse != name]
        self._counts["unaffordable"] += before - len(self._offered) - len(self._waiting)
        del self._sessions[name]

    async def run(self) -> None:
        """Ask until cancelled. Nothing that goes wrong ends it."""
        await self._safely(asyncio.to_thread(self._budget.flush))
        try:
            while True:
                await self._changed.wait()
                self._changed.clear()
                if self._budget.is_full():
                    await self._safely(asyncio.to_thread(self._budget.flush))
                while self._offered or self._affordable():
                    await self._safely(self._step())
        finally:
            with suppress(OSError):
                self._budget.flush()

    def figures(self) -> Mapping[str, object]:
        """What it did and what it cost, for `stats`."""
        return {
            "model": self._settings.model,
            **{name: self._counts[name] for name in ("calls", "failed", "proposed", "admitted", "refused", "dropped")},
            "unaffordable": self._counts["unaffordable"],
            "waiting": len(self._offered) + len(self._waiting),
            **self._budget.figures(),
        }

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
        self._sessions[purse(ask.tenant, ask.session)] += 1
        return self._sessions[purse(ask.tenant, ask.session)] <= self._numbers.proposals_per_task

    def _prepare(self, ask: Ask, name: tuple[str, ...]) -> _Waiting | Outcome:
        calling = call(redacted(ask.about), lambda: self._links.known(ask.tenant), self._numbers)
        try:
            prompt = redacted_prompt(next(calling))
        except StopIteration as end:
            outcome: Outcome = end.value
            return outcome
        tokens = self._links.count(prompt.system) + self._links.count(prompt.user)
        return _Waiting(ask, name, calling, prompt, tokens)

    def _affordable(self) -> _Waiting | None:
        return next((item for item in self._waiting if not self._budget.refusal(item.purse, self._cost(item))), None)

    def _cost(self, item: _Waiting) -> int:
        return item.tokens + self._longest_reply

    async def _handle(self, item: _Waiting) -> None:
        try:
            text = await self._ask(item)
        except NoReply as error:
            self._counts["failed"] += 1
            self._asked.discard(item.name)
            outcome = await asyncio.to_thread(_end, item.calling.throw, error)
        else:
            outcome = await asyncio.to_thread(_end, item.calling.send, text)
        await self._close(item.ask, outcome)

    async def _ask(self, item: _Waiting) -> str:
        """The model's words. Raises `NoReply` if it has none after all attempts."""
        reason = ""
        for attempt in range(1 + self._settings.retries):
            await asyncio.sleep(_PAUSE * (2**attempt - 1))
            reserved = self._cost(item)
            if refusal := await asyncio.to_thread(self._budget.reserve, item.purse, reserved):
                raise NoReply(f"{reason}; {refusal}" if reason else refusal)
            self._counts["calls"] += 1
            try:
                async with asyncio.timeout(self._settings.timeout):
                    text, usage = await self._links.model(item.prompt, self._key(item.ask))
            except TimeoutError:
                # it may have been at work, so what was reserved is spent
                reason = f"the model did not answer in {self._settings.timeout:g} s"
            except Exception as error:
                await asyncio.to_thread(self._budget.spend, item.purse, -reserved)
                status = getattr(error, "status_code", None)
                reason = f"the model could not be asked: {type(error).__name__}, status {status}"
                if not isinstance(status, int) or (status < 500 and status not in _LATER):
                    break
            else:
                await asyncio.to_thread(self._book, item, reserved, text, usage)
                return text
        raise NoReply(reason)

    def _book(self, item: _Waiting, reserved: int, text: str, usage: Mapping[str, Any]) -> None:
        reply = self._links.count(text)
        spent = reported(usage) or item.tokens + reply
        self._longest_reply = max(self._longest_reply, reply, spent - item.tokens)
        self._budget.spend(item.purse, spent - reserved)

    def _key(self, ask: Ask) -> str | None:
        return secret(self._settings.key_env) or (ask.key if self._settings.client_key else None)

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
