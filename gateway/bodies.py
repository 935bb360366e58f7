"""Request bodies of all forms: a JSON object that holds a list of messages; those read before are not read again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gateway import weights
from gateway.cache import BoundedCache
from gateway.errors import BadRequest, NothingToRead
from gateway.messages.content import text_of
from gateway.spans import MalformedJSON, Member, elements, members
from gateway.types import Conversation, Message, Placed

Cache = BoundedCache[tuple[str, bytes], Message]
"""Messages by the name of their form and their bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A body, read but for what its form says beside the messages."""

    rest: bytes
    """The body, perhaps without the messages that were read before."""
    fields: Mapping[str, Member]
    """Its members, by spans of `rest`."""
    messages: tuple[Placed, ...]
    """By spans of the whole body."""
    head: tuple[int, int]
    """See `Conversation`."""

    def text(self, name: str) -> str | None:
        """The string under a name; `None` if there is none, or it is none."""
        return text_of(self.rest, self.fields.get(name))

    def model(self) -> str:
        """The model that it names. Raises `BadRequest` if it names none."""
        named = self.text("model")
        if not named:
            raise BadRequest("'model' is missing: name the model as a string", param="model")
        return named

    def raw(self, name: str) -> bytes:
        """The bytes of the value under a name; none where there is no such value."""
        member = self.fields.get(name)
        return self.rest[member.start : member.end] if member else b""

    def place(self, name: str) -> tuple[int, int] | None:
        """Where the value under a name stands; see `Conversation.system`."""
        member = self.fields.get(name)
        if member is None:
            return None
        behind = len(self.rest) if member.start > self.head[0] else 0
        return member.start - behind, member.end - behind


@dataclass(frozen=True, slots=True)
class Listing:
    """Where a form has its messages, and how it reads one."""

    form: str
    key: str
    read_message: Callable[[bytes, int], Message]
    """(bytes, index) → the message."""
    single: bool = False
    """One string may stand in the place of the list: it is a message, too."""
    instead: frozenset[str] = frozenset()
    """Fields beside which there need not be any message."""

    def read(self, body: bytes, cache: Cache, before: Conversation | None) -> Body:
        """Read a body; messages seen before come from `before`, or from `cache`. Raises `BadRequest`, `NothingToRead`."""
        if before and not body.startswith(b"[", before.head[0]):
            before = None
        try:
            return self._read(body, cache, before)
        except MalformedJSON as error:
            if before:
                return self.read(body, cache, None)  # its words count bytes from the beginning
            raise BadRequest(f"the body is not a JSON object: {error}") from error

    def _read(self, body: bytes, cache: Cache, before: Conversation | None) -> Body:
        rest, gap = _without(body, before)
        fields = {m.key: m for m in members(rest, 0, len(rest))[0]}
        listed = fields.get(self.key)
        if before and (listed is None or listed.start != before.head[0]):
            return self._read(body, cache, None)  # the key occurs twice, and the last one counts
        known = before.messages if before else ()
        spans = self._spans(rest, listed)[bool(known) :]
        if listed is None or not (spans or known):
            raise self._lacking(rest, fields)
        for k, (start, _) in enumerate(spans, len(known)):
            if start > listed.start and not rest.startswith(b"{", start):
                raise BadRequest(f"'{self.key}[{k}]' is not an object", param=f"{self.key}[{k}]")
        new = (self._place(rest, *span, gap, k, cache) for k, span in enumerate(spans, len(known)))
        return Body(rest=rest, fields=fields, messages=known + tuple(new), head=(listed.start, listed.end + gap))

    def _spans(self, body: bytes, listed: Member | None) -> list[tuple[int, int]]:
        """Where the messages stand."""
        if listed is None or body[listed.start : listed.end] == b"null":
            return []
        if self.single and body.startswith(b'"', listed.start):
            return [(listed.start, listed.end)]
        if body.startswith(b"[", listed.start):
            return elements(body, listed.start, listed.end)
        raise self._missing()

    def _lacking(self, body: bytes, fields: Mapping[str, Member]) -> Exception:
        if any(body[m.start : m.end] != b"null" for key, m in fields.items() if key in self.instead):
            return NothingToRead()
        listed = fields.get(self.key)
        if listed is None or body[listed.start : listed.end] == b"null":
            return self._missing()
        return BadRequest(f"'{self.key}' is empty: send at least one message", param=self.key)

    def _missing(self) -> BadRequest:
        return BadRequest(f"'{self.key}' is missing or not a list: send a list of messages", param=self.key)

    def _place(self, body: bytes, start: int, end: int, gap: int, index: int, cache: Cache) -> Placed:
        raw = body[start:end]
        message = cache.get((self.form, raw))
        if message is None:
            message = self.read_message(raw, index)
            cache.put((self.form, raw), message, len(raw) + weights.of_message(message))
        return Placed(message=message, start=start + gap, end=end + gap)


def _without(body: bytes, before: Conversation | None) -> tuple[bytes, int]:
    """The body with a 0 in the place of the messages that it shares with `before`, and by how much that is shorter."""
    if before is None:
        return body, 0
    start, end = before.head[0] + 1, before.messages[-1].end
    return b"".join((body[:start], b"0", body[end:])), end - start - 1
