"""Who and what a thing is, whatever JSON it came in: tenants, message chains, observations and their keys.

Nothing here depends on session detection: losing track of a session can cost learning, never stability.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from sys import getsizeof

from gateway import calls, framings, polls, weights
from gateway.cache import BoundedCache
from gateway.framings import Frame
from gateway.spans import by_value
from gateway.types import Call, Conversation, Message, Placed, Text
from rules_engine import Observation, text_digest

CACHED_BYTES = 12 << 20
_NAME = re.compile(r"[\w-]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One observation with the names by which it is known."""

    observation: Observation
    name: str
    """The key without the ordinal: equals in one request share it."""
    digest: str
    """Of its raw text."""
    source: str = ""
    """Id of the call that it answers, where it is the only output in its message: pointers name it."""
    first: int = 1
    """Number of its first line among the lines of the message, or of the output where that is a JSON string."""
    unasked: bool = False
    """It shows text again that nobody asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One framed text of a request, split into its observations, one for each body of the frame."""

    at: int
    """Index of its message."""
    text: Text
    place: int = 0
    """Index of the text among those of its message that are not empty."""
    frame: Frame
    items: tuple[Item, ...]
    failed: bool = False
    """A framing raised: the text is left alone."""


def tenant_of(authorization: bytes) -> str:
    """A name for the holder of a key; the key cannot be had back from it."""
    return blake2b(authorization, digest_size=8, person=b"taco-tenant").hexdigest()


def chain(conversation: Conversation, tenant: str) -> tuple[bytes, ...]:
    """For each message the name of the history that ends with it: a hash of its content and its parent's name."""
    out = []
    parent = blake2b(f"{tenant}{conversation.root or ''}".encode(), digest_size=16).digest()
    for placed in conversation.messages:
        parent = blake2b(parent + placed.message.canonical, digest_size=16).digest()
        out.append(parent)
    return tuple(out)


def last_assistant(conversation: Conversation) -> int:
    """Index of the last assistant message, -1 if there is none."""
    for k in range(len(conversation.messages) - 1, -1, -1):
        if conversation.messages[k].message.role == "assistant":
            return k
    return -1


def declares_shell(conversation: Conversation, seen: list[Seen]) -> bool | None:
    """Whether this client has a shell, by its tools or by what it has used; `None` if it does not say what it has."""
    if calls.declares_shell(conversation.tools):
        return True
    used = any(s.text.role == "user" or calls.is_shell(s.items[0].observation.tool) for s in seen if s.items)
    return used or (False if conversation.tools else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _History:
    """What the messages up to one hold."""

    seen: tuple[Seen, ...] = ()
    asked: Message | None = None
    """The last assistant message."""
    calls: Mapping[str, tuple[Call, Message]] = field(default_factory=dict)
    """By id, each with the message that makes it."""
    runs: Mapping[str, str] = field(default_factory=dict)
    """Commands by the names that results gave their runs."""
    equals: Counter[str] = field(default_factory=Counter)
    """How often each name occurs."""
    weight: int = 500
    """Bytes in memory."""
    before: bytes = b""
    """Name of the history that it was found to go on from."""


class Observer:
    """Finds the observations of a request. What messages hold depends only on the history that ends with them,
    so of a history that goes on from a known one only the end is looked at."""

    def __init__(self) -> None:
        self._known: BoundedCache[bytes, _History] = BoundedCache(CACHED_BYTES)

    def observe(self, conversation: Conversation, tenant: str, chain: tuple[bytes, ...]) -> list[Seen]:
        """All observations of a request, in order. Of a text that came before in another JSON form of its message the
        old place is told: `text_in` finds the new one."""
        known, history = self._longest(chain)
        if known < len(chain):
            if history.before:
                self._known.drop(history.before)  # nearly all of it is in the two longer ones
            before = chain[known - 1] if known else b""
            history = _extended(history, conversation.messages, known, tenant, before)
            self._known.put(chain[-1], history, history.weight)
        return list(history.seen)

    def _longest(self, chain: tuple[bytes, ...]) -> tuple[int, _History]:
        """The longest known history that a request goes on from, and of how many messages it is."""
        for known in range(len(chain), 0, -1):
            history = self._known.get(chain[known - 1])
            if history is not None:
                return known, history
        return 0, _History()


def _extended(history: _History, messages: Sequence[Placed], start: int, tenant: str, before: bytes) -> _History:
    """The history with the messages from `start` on."""
    seen, asked = list(history.seen), history.asked
    calls, runs, equals = dict(history.calls), dict(history.runs), Counter(history.equals)
    for k in range(start, len(messages)):
        message = messages[k].message
        if message.role == "assistant":
            asked = message
        calls.update({call.id: (polls.followed(call, runs), message) for call in message.calls})
        if not message.texts or (asked is None and message.role == "user"):
            continue  # before the first answer a user's text is the task
        found = _find(k, message, asked, calls, tenant, equals)
        with suppress(Exception):  # a run whose name is not known costs the saving of its news
            runs.update(polls.started(message, calls))
        equals.update(item.name for one in found for item in one.items)
        seen += found
    weight = history.weight + sum(weights.of_message(placed.message) for placed in messages[start:])
    weight += sum(_weigh(item, one) for one in seen[len(history.seen) :] for item in one.items)
    return _History(seen=tuple(seen), asked=asked, calls=calls, runs=runs, equals=equals, weight=weight, before=before)


def _weigh(item: Item, seen: Seen) -> int:
    """Bytes in memory of an observation, beside its message."""
    text = item.observation.text
    return 2000 + (0 if text is seen.text.value else getsizeof(text))


def text_in(message: Message, seen: Seen) -> Text:
    """The text that `seen` is of, as it stands in this JSON form of its message."""
    if any(text is seen.text for text in message.texts):
        return seen.text
    return [text for text in message.texts if text.value][seen.place]


def _find(
    at: int,
    message: Message,
    asked: Message | None,
    open_calls: Mapping[str, tuple[Call, Message]],
    tenant: str,
    equals: Counter[str],
) -> tuple[Seen, ...]:
    out = []
    count = Counter(equals)
    for place, text in enumerate(text for text in message.texts if text.value):
        call, answered = open_calls.get(text.call or "", (None, asked))
        try:
            frame = framings.split(text.value, text.role)
            sole = sum(other.call == text.call for other in message.texts) == 1
            items = tuple(_items(text, frame, call, answered, tenant, count, sole)) if frame else ()
        except Exception:  # whatever is read wrongly there costs the saving, never the request
            out.append(Seen(at=at, place=place, text=text, frame=Frame(bodies=()), items=(), failed=True))
            continue
        if frame is not None:
            out.append(Seen(at=at, place=place, text=text, frame=frame, items=items))
    return tuple(out)


def _items(
    text: Text, frame: Frame, call: Call | None, asked: Message | None, tenant: str, count: Counter[str], sole: bool
) -> list[Item]:
    tool = call.tool if call else ""
    command = _command(frame, call, asked)
    answered = asked.canonical.hex() if asked else ""
    out = []
    for body in frame.bodies:
        name = _digest(tenant, tool, command, text.call or "", answered, body.text)
        key = _digest(name, str(count[name]))
        count[name] += 1
        observation = Observation(
            key=key,
            tool=tool,
            command=command,
            exit_code=text.exit_code if frame.exit_code is None else frame.exit_code,
            text=body.text,
            escaped=body.json is not None,
        )
        alone = sole and len(frame.bodies) == 1 and _NAME.fullmatch(text.call or "")
        out.append(
            Item(
                observation=observation,
                name=name,
                digest=text_digest(body.text),
                source=text.call or "" if alone else "",
                first=1 if body.json else text.value.count("\n", 0, body.start) + 1,
                unasked=frame.unasked,
            )
        )
    return out


def _command(frame: Frame, call: Call | None, asked: Message | None) -> str:
    if call is not None:
        return by_value(call.command or calls.command_of(call.tool, call.arguments))
    return frame.command or (calls.commands_in(asked.words) if asked else "")


def _digest(*parts: str) -> str:
    digest = blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()
