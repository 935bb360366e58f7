"""How a scripted model speaks: one module for each API form, listed here."""

from __future__ import annotations

from collections.abc import Mapping

from gateway.playing import anthropic_messages, chat_completions, responses
from gateway.playing.saying import Form

FORMS: Mapping[str, Form] = {
    "/v1/chat/completions": chat_completions,
    "/v1/responses": responses,
    "/v1/messages": anthropic_messages,
}
"""By the path at which a form is spoken."""
