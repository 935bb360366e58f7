"""What a response says, from its bytes, in each API form: whole or streamed, compressed or not, broken or not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from gateway.encodings import decompress
from gateway.sse import Event, SseDecoder

LIMIT = 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One assistant message, put together, and how it ended."""

    message: dict[str, Any]
    """As the API has it, with its `role`; empty where none came."""
    words: str = ""
    """What it says and asks for, for counting."""
    finish_reason: str | None
    usage: dict[str, Any] | None
    """As the provider reported it; `None` where it did not."""
    error: str | None
    """What the provider said, or what is wrong with the bytes."""
    complete: bool
    """The provider came to an end: nothing was cut off."""


class Assembly(Protocol):
    """An answer on its way to a reply: one whole response, or the events of a stream, in order."""

    def add(self, value: object, name: str) -> None:
        """Take the JSON of an event, or all of it; `name` is the event's."""

    def end(self) -> None:
        """The stream says that it is over, beside its events."""

    def close(self, problem: str | None) -> Reply:
        """What came; `problem` is what is wrong with the bytes."""


def assemble(into: Assembly, body: bytes, content_type: str, content_encoding: str) -> Reply:
    """Read a response body that came whole or in part. Costs time in proportion to it: call it off the loop."""
    decoded = decompress(body, content_encoding, LIMIT)
    data, problem = decoded.data, decoded.problem
    if content_type.lower().startswith("text/event-stream") or data[:6].startswith((b"data:", b"event:", b":")):
        return into.close(_feed(into, data) or problem)
    try:
        value = parse(data)
    except (ValueError, RecursionError):
        return into.close(problem or ("the response is not JSON" if data.strip() else "the response is empty"))
    into.add(value[0] if isinstance(value, list) and value else value, "")
    return into.close(problem)


def _feed(into: Assembly, data: bytes) -> str | None:
    """The events of a stream; the value is what is wrong with one of them."""
    problem = None
    for event in _events(data):
        if event.data.strip() == "[DONE]":
            into.end()
            continue
        try:
            into.add(parse(event.data), event.name)
        except (ValueError, RecursionError):
            problem = problem or "a chunk of the stream is not JSON"
    return problem


def _events(data: bytes) -> Iterator[Event]:
    decoder = SseDecoder()
    yield from decoder.feed(data)
    yield from decoder.flush()


def parse(data: bytes | str) -> Any:
    """A JSON value; lone surrogates and bytes that are not UTF-8 do not stop it. Raises `ValueError`."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError):
        return json.loads(data if isinstance(data, str) else data.decode("utf-8", "replace"))


def words_of(error: object) -> str:
    """What an error object says."""
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        return str(error["message"])
    return error if isinstance(error, str) else json.dumps(error)
