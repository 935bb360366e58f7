"""What a log tells, exchange by exchange: ours by their JSON, those of others by their text.

sections ─read_exchanges→ Exchange* ─Conversations.expand→ the whole list of messages of each request
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import msgspec

from memory.L4_raw_sessions.sections import Section


class _Prompt(msgspec.Struct):
    session: str = ""
    base: str | None = None
    names: list[str] = []
    messages: list[msgspec.Raw] = []
    head_name: str = ""
    head: msgspec.Raw = msgspec.Raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request and its response."""

    key: str
    """Names it among all: the same exchange, logged twice, has it twice."""
    id: str | None
    """`None` in logs of others."""
    session: str | None
    sections: tuple[Section, ...]
    base: str | None
    """Name of the message that the first one here follows."""
    names: tuple[str, ...]
    messages: tuple[bytes, ...]
    """Those of the request that the log did not hold before, as JSON."""
    head_name: str
    head: bytes | None
    """The request without its messages, as JSON, where the log did not hold it before."""
    response: Mapping[str, Any]
    """What ours say of it: `message`, `name`, `usage`, `status`, `outcome`, `error` …"""


def read_exchanges(sections: Iterable[Section]) -> Iterator[Exchange]:
    """The exchanges of a log; what stands before the first is one, too, so that all sections come back."""
    group: list[Section] = []
    for section in sections:
        if group and section.kind in ("Prompt", ""):
            yield _exchange(group)
            group = []
        group.append(section)
    if group:
        yield _exchange(group)


def _exchange(group: Sequence[Section]) -> Exchange:
    first, last = group[0], group[-1]
    prompt = _read(first)
    response = _response(last)
    whole = prompt is not None and bool(response)
    sealed = prompt or _Prompt()
    return Exchange(
        key=f"{first.fields['id']}@{first.fields.get('at', '')}" if whole else _digest(group),
        id=first.fields["id"] if whole else None,
        session=sealed.session or None,
        sections=tuple(group),
        base=sealed.base,
        names=tuple(sealed.names),
        messages=tuple(map(bytes, sealed.messages)),
        head_name=sealed.head_name,
        head=bytes(sealed.head) or None,
        response=response,
    )


def _read(section: Section) -> _Prompt | None:
    if section.kind != "Prompt" or section.sealed is None or not section.fields.get("id"):
        return None
    try:
        return msgspec.json.decode(section.sealed, type=_Prompt)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return _read_patiently(section.sealed)


def _read_patiently(sealed: bytes) -> _Prompt | None:
    """With half characters, which clients send and msgspec does not take."""
    try:
        prompt = json.loads(sealed)
        raw = [msgspec.Raw(json.dumps(message).encode()) for message in prompt["messages"]]
        head = msgspec.Raw(json.dumps(prompt["head"]).encode()) if "head" in prompt else msgspec.Raw()
        plain = {name: prompt[name] for name in ("session", "base", "names", "head_name")}
        return _Prompt(messages=raw, head=head, **plain)
    except (ValueError, KeyError, TypeError):
        return None


def _response(section: Section) -> dict[str, Any]:
    if section.kind != "Response" or section.sealed is None:
        return {}
    try:
        response = json.loads(section.sealed)
    except ValueError:
        return {}
    return response if isinstance(response, dict) else {}


def _digest(group: Sequence[Section]) -> str:
    digest = sha256()
    for section in group:
        if section.kind != "ASSISTANT" or section.body.strip():  # a cue that says nothing is not archived
            digest.update(section.head)
            digest.update(section.body)
    return f"sha256:{digest.hexdigest()}"


class Conversations:
    """Puts the messages of each request together again, from all parts of a session in order."""

    def __init__(self) -> None:
        self._messages: dict[str, tuple[str | None, bytes]] = {}

    def expand(self, exchange: Exchange) -> list[bytes] | None:
        """The messages of a request, as JSON; `None` if an earlier part that holds some of them was not read."""
        parent = exchange.base
        for name, message in zip(exchange.names, exchange.messages, strict=True):
            self._messages[name] = (parent, message)
            parent = name
        tip = exchange.names[-1] if exchange.names else exchange.base
        return self._chain(tip)

    def _chain(self, tip: str | None) -> list[bytes] | None:
        out: list[bytes] = []
        while tip is not None:
            if tip not in self._messages:
                return None
            tip, message = self._messages[tip]
            out.append(message)
        return out[::-1]
