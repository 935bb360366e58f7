"""Between the API that a client speaks and chat completions, which litellm takes: one module a form, found by path.

What cannot be said in the other form is an error that says so; what is only a hint there (where a cache may end, how
much to think) is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from gateway.translating import anthropic_messages, chat_completions


class Answering(Protocol):
    """An answer on its way to a client, chunk by chunk."""

    def feed(self, chunk: Mapping[str, Any]) -> bytes:
        """What the client hears of a chunk of a chat completion."""

    def end(self) -> bytes:
        """What it hears when the last has come. Raises `UpstreamBroke` where something is missing."""


class Form(Protocol):
    """A member of this package."""

    PATH: str

    def ask(self, body: dict[str, Any]) -> dict[str, Any]:
        """The request as a chat completion. Raises `BadRequest` with what cannot be translated."""

    def write(self, completion: Mapping[str, Any]) -> bytes:
        """The body of a whole answer. Raises `UpstreamBroke` where it makes no sense."""

    def start(self) -> Answering:
        """Begin a streamed answer."""

    def refuse(self, status: int, detail: Mapping[str, Any]) -> bytes:
        """The body of a provider's error: its message, type, param and code."""


FORMS: Mapping[str, Form] = {
    chat_completions.PATH: chat_completions,
    anthropic_messages.PATH: anthropic_messages,
}
