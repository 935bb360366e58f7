"""Puts one prompt to the model, again if that makes sense: each attempt is paid for before it is made.

A reservation covers the prompt and the longest reply; what the reply cost less is given back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from gateway.config import Proposer, secret
from gateway.evolving.asking import Ask, Model, reported
from gateway.evolving.budget import Budget
from rules_engine.evolution.planning import NoReply
from rules_engine.evolution.prompts import Prompt

_PAUSE = 1.0
"""Seconds before the second attempt; each further pause is twice as long."""
_LATER = frozenset({408, 409, 425, 429})
"""Statuses below 500 after which a further attempt makes sense."""


class Attempts:
    """The model, and the tokens that it may be paid with."""

    def __init__(self, settings: Proposer, budget: Budget, model: Model, count: Callable[[str], int]) -> None:
        """`count` counts the tokens of a text."""
        self._settings = settings
        self._budget = budget
        self._model = model
        self._count = count
        self._longest_reply = 2 * settings.reply_tokens  # a model may not keep to its limit
        self.made = 0
        """Calls, the failed ones among them."""

    def weigh(self, prompt: Prompt) -> int:
        """The tokens of a prompt."""
        return self._count(prompt.system) + self._count(prompt.user)

    def can_afford(self, ask: Ask, weight: int) -> bool:
        """Whether the session that asks, and the day, have tokens for a prompt of this weight and its reply."""
        return self._budget.refusal(ask.purse, weight + self._longest_reply) is None

    async def answer(self, ask: Ask, prompt: Prompt, weight: int) -> str:
        """The model's words. Raises `NoReply` if it has none after all attempts, or if the tokens are spent."""
        reason = ""
        for attempt in range(1 + self._settings.retries):
            await asyncio.sleep(_PAUSE * (2**attempt - 1))
            reserved = weight + self._longest_reply
            if refusal := await asyncio.to_thread(self._budget.reserve, ask.purse, reserved):
                raise NoReply(f"{reason}; {refusal}" if reason else refusal)
            self.made += 1
            try:
                async with asyncio.timeout(self._settings.timeout):
                    text, usage = await self._model(prompt, self._key(ask))
            except TimeoutError:
                # it may have been at work, so what was reserved is spent
                reason = f"the model did not answer in {self._settings.timeout:g} s"
            except Exception as error:
                await asyncio.to_thread(self._budget.spend, ask.purse, -reserved)
                status = getattr(error, "status_code", None)
                reason = f"the model could not be asked: {type(error).__name__}, status {status}"
                if not _may_pass(status):
                    break
            else:
                await asyncio.to_thread(self._book, ask, weight, reserved, text, usage)
                return text
        raise NoReply(reason)

    def _book(self, ask: Ask, weight: int, reserved: int, text: str, usage: Mapping[str, Any]) -> None:
        reply = self._count(text)
        spent = reported(usage) or weight + reply
        self._longest_reply = max(self._longest_reply, reply, spent - weight)
        self._budget.spend(ask.purse, spent - reserved)

    def _key(self, ask: Ask) -> str | None:
        return secret(self._settings.key_env) or (ask.key if self._settings.client_key else None)


def _may_pass(status: object) -> bool:
    """Whether an error of this status may be gone a moment later."""
    return isinstance(status, int) and (status >= 500 or status in _LATER)
