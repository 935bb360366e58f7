"""The API forms in which clients speak: one module a form, found by path.

A shape finds the messages and the tool output in its own JSON; it never translates a request into another form.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from gateway.bodies import Cache
from gateway.errors import GatewayError
from gateway.replies import Reply
from gateway.shapes import anthropic_messages, chat_completions, responses
from gateway.types import Conversation


class Shape(Protocol):
    """A member of this folder."""

    NAME: str
    PATH: str

    def read(self, body: bytes, cache: Cache, before: Conversation | None = None) -> Conversation:
        """Find model, messages and texts; messages seen before come from `cache`. Raises `BadRequest` with what to do.

        `before` is a conversation whose body was the same up to the end of its last message: so far nothing is read again.
        """

    def read_reply(self, body: bytes, content_type: str, content_encoding: str = "") -> Reply:
        """Put an answer together, whole or streamed, complete or not."""

    def calls_tools(self, reply: bytes) -> bool:
        """Whether an answer, whole or streamed, asks for a tool; told by its bytes, without reading it."""

    def error_body(self, error: GatewayError) -> bytes:
        """The error as this form's clients expect it."""

    def error_event(self, error: GatewayError) -> bytes:
        """The same inside a stream, after the status has gone out."""


SHAPES: dict[str, Shape] = {
    chat_completions.PATH: chat_completions,
    responses.PATH: responses,
    anthropic_messages.PATH: anthropic_messages,
}

BESIDE: dict[str, Shape] = {
    "/v1/messages/count_tokens": anthropic_messages,
    "/v1/responses/compact": responses,
    "/v1/responses/input_tokens": responses,
}
"""Paths that take a history for another purpose than an answer: they see it as the model does, and nothing is decided."""


def spoken_at(path: str, fields: Mapping[str, str]) -> Shape:
    """The form in which those who call a path, with these headers, expect an error."""
    others = anthropic_messages if "anthropic-version" in fields else chat_completions
    return next((shape for shape in SHAPES.values() if path.startswith(shape.PATH)), others)
