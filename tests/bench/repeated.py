"""Recorded sessions as the gateway hands them to its store, repeated until so many bytes of requests were received.

In each repetition every message has other words at its end, so that nothing is stored less because it was there before.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway.recordings import Session
from memory import ExchangeRecord, Message, message_hash

GAP = 20.0
"""Seconds from one request to the next."""


@dataclass(frozen=True, slots=True)
class Received:
    """One exchange, and how many bytes its request and its answer had."""

    record: ExchangeRecord
    size: int


def repeat(sessions: Sequence[Session], size: int, now: float) -> Iterator[Received]:
    """Exchanges, session by session, until they had `size` bytes; `now` is when they begin."""
    done, number = 0, 0
    while done < size:
        for session in sessions:
            number += 1
            for one in exchanges(session, number, now):
                done += one.size
                now = one.record.ended + GAP
                yield one
            if done >= size:
                return


def exchanges(session: Session, number: int, now: float) -> Iterator[Received]:
    """The requests of a session, each with all that was said before it, as a client sends them."""
    tools = json.dumps({"model": session.model or "recorded", "tools": list(session.tools)}).encode()
    said = [_fresh(message, number) for message in session.messages]
    hashes: list[str] = []
    for content in said:
        hashes.append(message_hash(hashes[-1] if hashes else None, content))
    sizes = [len(content) + 2 for content in said]
    before = 0
    for at in session.turns:
        messages = tuple(
            Message(hash=hashes[k], parent=hashes[k - 1] if k else None, role=_role(session, k), content=said[k])
            for k in range(before, at)
        )
        reply = Message(hash=hashes[at], parent=hashes[at - 1], role="assistant", content=said[at])
        id_ = f"{number}-{at}"
        record = _record(id_, f"bench-{number}", session.model, now, messages, reply, hashes[at - 1], tools)
        yield Received(record, len(tools) + sum(sizes[: at + 1]))
        now, before = record.ended + GAP, at + 1


def _role(session: Session, at: int) -> str:
    return str(session.messages[at]["role"])


def _fresh(message: Mapping[str, Any], number: int) -> bytes:
    content = message.get("content")
    if isinstance(content, str) and content:
        message = {**message, "content": f"{content} (talk {number})"}
    elif isinstance(content, list):
        message = {**message, "content": [*content, {"type": "text", "text": f"(talk {number})"}]}
    return json.dumps(message, ensure_ascii=False).encode("utf-8", "backslashreplace")


def _record(
    id_: str,
    session: str,
    model: str | None,
    now: float,
    messages: tuple[Message, ...],
    reply: Message,
    tip: str,
    head: bytes,
) -> ExchangeRecord:
    return ExchangeRecord(
        id=id_,
        session=session,
        parent_session=None,
        tenant="bench",
        started=now,
        first_byte=now + 0.5,
        ended=now + 5.0,
        method="POST",
        path="/v1/chat/completions",
        shape="chat_completions",
        upstream="bench",
        model=model or "recorded",
        stream=False,
        retry=False,
        status=200,
        outcome="completed",
        error=None,
        tip=tip,
        messages=messages,
        head=head,
        reply=reply,
        reported={"prompt_tokens": 1000, "completion_tokens": 100},
        accounts={"raw_tokens": 1000, "forwarded_tokens": 900},
        kept={"small": 1},
    )
