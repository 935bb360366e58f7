"""A question to the model that proposes rules: who asks, what leaves the house, what comes back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gateway.config import Proposer
from gateway.providers.via_litellm import complete
from memory import redact
from rules_engine.evolution.prompts import About, Missed, Prompt, Start, Uncovered
from rules_engine.evolution.proposals import Outcome, Refusal
from rules_engine.types import Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A situation that a model may be asked about."""

    about: About
    tenant: str
    session: str
    key: str | None = field(default=None, repr=False)
    """The client's own, which is used only where the operator said so."""
    then: Callable[[Outcome], None] | None = field(default=None, repr=False)
    """Is told what came of it."""

    @property
    def purse(self) -> str:
        """The name under which its session's tokens are counted."""
        return purse(self.tenant, self.session)


Model = Callable[[Prompt, str | None], Awaitable[tuple[str, Mapping[str, Any]]]]
"""A prompt and a key → what the model says, and the usage that it reports."""


def ask_through_litellm(settings: Proposer) -> Model:
    """The model that the settings name."""

    async def model(prompt: Prompt, key: str | None) -> tuple[str, Mapping[str, Any]]:
        messages = [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}]
        form = {"name": prompt.call.replace(" ", "_"), "schema": prompt.schema}
        where = {"api_base": settings.url or None, "api_key": key}
        return await complete(
            settings.model,
            messages,
            response_format={"type": "json_schema", "json_schema": form},
            temperature=settings.temperature,
            max_tokens=settings.reply_tokens,
            **{name: value for name, value in where.items() if value},
        )

    return model


def purse(tenant: str, session: str) -> str:
    """The name under which a session's tokens are counted."""
    return f"{tenant}\0{session}"


def redacted(about: About) -> About:
    """The situation without secrets. Redact before texts are cut to size: half a secret would not be recognised."""
    match about:
        case Start():
            return replace(about, task=redact(about.task))
        case Uncovered():
            text, command = redact(about.text), redact(about.command)
            return replace(about, text=text, command=command, task=redact(about.task))
        case Missed():
            text, command = redact(about.text), redact(about.command)
            return replace(about, text=text, command=command, said=redact(about.said))


def redacted_prompt(prompt: Prompt) -> Prompt:
    """The prompt without secrets; the rules that it quotes may hold some."""
    return replace(prompt, user=redact(prompt.user))


def without_secrets(outcome: Outcome) -> Outcome:
    """The outcome as it may be stored: rules that hold a secret are refused, and reasons are redacted."""
    safe = tuple(rule for rule in outcome.proposed if not _holds_secret(rule))
    secret_ones = tuple(
        Refusal(rule_id=rule.id, reason="a secret stands in it") for rule in outcome.proposed if rule not in safe
    )
    refused = tuple(Refusal(rule_id=redact(r.rule_id), reason=redact(r.reason)) for r in outcome.refused)
    return replace(outcome, proposed=safe, refused=refused + secret_ones)


def _holds_secret(rule: Rule) -> bool:
    values = (item for value in rule.params.values() if isinstance(value, list | tuple) for item in value)
    texts = (rule.id, rule.description, rule.trigger.pattern, *map(str, values))
    return any(redact(text) != text for text in texts)


def reported(usage: Mapping[str, Any]) -> int:
    """Tokens that the provider states; 0 where it states none that make sense."""
    parts = (usage.get("prompt_tokens"), usage.get("completion_tokens"))
    whole = sum(part for part in parts if isinstance(part, int) and part > 0)
    total = usage.get("total_tokens")
    return max(whole, total if isinstance(total, int) else 0)
