"""Chat completions as chat completions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

PATH = "/v1/chat/completions"


def ask(body: dict[str, Any]) -> dict[str, Any]:
    """As it is."""
    return body


def write(completion: Mapping[str, Any]) -> bytes:
    """As it is."""
    return json.dumps(completion).encode()


def start() -> Answering:
    """An event a chunk."""
    return Answering()


def refuse(status: int, detail: Mapping[str, Any]) -> bytes:
    """``{"error": {message, type, param, code}}``."""
    return json.dumps({"error": detail}, default=str).encode()


class Answering:
    """One event a chunk, then ``[DONE]``."""

    def feed(self, chunk: Mapping[str, Any]) -> bytes:
        """The chunk."""
        return b"data: " + json.dumps(chunk).encode() + b"\n\n"

    def end(self) -> bytes:
        """The mark."""
        return b"data: [DONE]\n\n"
