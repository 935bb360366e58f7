"""The shell's nouns, in the order in which they flow.

bytes ─shape.read→ Conversation ─observe→ Seen* ─decide→ Decision* ─splice→ bytes ─provider→ chunks ─relay→ client
Exchange = request + decisions + outcome + usage + times ─recorder→ audit, accounts, archive
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from gateway.framings import Role

Headers = tuple[tuple[bytes, bytes], ...]
"""Header lines in order, names in lower case."""

Outcome = Literal["completed", "failed", "abandoned"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One tool call of an assistant message."""

    id: str
    tool: str
    arguments: str
    command: str = ""
    """What it ran, where its arguments only name a run that an earlier call started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A text of a message that may be tool output, and where it stands."""

    start: int
    end: int
    """Span of the JSON string, quotes included, in the bytes of its message."""
    value: str
    role: Role
    call: str | None = None
    """Id of the call that it answers."""
    exit_code: int | None = None
    """Of what printed it, where the form has a field for that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a request, as a shape reads it; the same for all JSON forms of the same content."""

    role: str
    canonical: bytes
    """Digest of role, texts, calls and parts, whatever JSON they came in."""
    raw: bytes
    """Digest of its bytes as they came."""
    words: str
    """All its plain text, for finding commands and for counting."""
    texts: tuple[Text, ...] = ()
    calls: tuple[Call, ...] = ()
    broken: str | None = None
    """Why nothing in it may be rewritten: a lone surrogate, a duplicate key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A message and the span of its bytes in the body."""

    message: Message
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A request body, read."""

    model: str
    stream: bool
    messages: tuple[Placed, ...]
    tools: tuple[str, ...]
    """Names of the tools that the client declares."""
    whole: bool
    """The provider is not asked to cut the history: what stands in the request is what the model reads."""
    session: str | None
    """The session id in the body, where the form has a field for one."""
    previous: str | None = None
    """Name of the history that the provider keeps and this request goes on from: only what is new is sent."""
    silent: bool = False
    """No answer is asked for: it is sent ahead, and the next request goes on from it at once."""
    kept: bool = False
    """The provider keeps this one and its answer, so that a later request can go on from them."""
    past: tuple[bytes, ...] = ()
    """The bytes of the leading messages that are not in the body: the provider keeps them, and we know them."""
    before: str | None = None
    """With a past: name of what it goes on from itself, which is not known."""

    @property
    def root(self) -> str | None:
        """Name of what stands before the first message and is not known; `None` where that is nothing."""
        return self.before if self.past else self.previous

    head: tuple[int, int]
    """Span of the messages array: the body without it is the head."""
    system: tuple[int, int] | None = None
    """Span of the system's words where they stand in the head; behind the messages it is counted from the body's end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request on its way to a provider."""

    id: str
    method: str
    path: str
    """With its query."""
    headers: Headers
    body: bytes | AsyncIterator[bytes]
    model: str | None
    stream: bool


class Answer(Protocol):
    """A provider's answer: the head is known, the body still flows."""

    status: int
    headers: Headers

    def chunks(self) -> AsyncGenerator[bytes, None]:
        """The body as it arrives. Raises `UpstreamBroke` if it ends too soon."""

    async def aclose(self) -> None:
        """Let the connection go; closes it if the body has not ended."""


class Channel(Protocol):
    """A WebSocket to a provider."""

    headers: Headers
    """Of its handshake."""

    @property
    def protocol(self) -> str | None:
        """The subprotocol that was agreed on."""

    @property
    def code(self) -> int:
        """With which it was closed; 1006 where it broke."""

    @property
    def reason(self) -> str:
        """Why it was closed, in the words of who closed it."""

    async def send(self, message: str | bytes) -> None:
        """Pass a message on. Raises `OSError` where the connection is gone."""

    def messages(self) -> AsyncIterator[str | bytes]:
        """What comes, until it is closed."""

    async def aclose(self, code: int = 1000) -> None:
        """Close it, if it is not closed yet."""


Send = Callable[[Request], Awaitable[Answer]]
