"""What a scripted model is asked and what it says: the same in every API form.

request ─Form.read→ Asked ─say→ Said ─Form.answer→ the whole answer ─Form.stream→ events
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from gateway.playing.commands import Tool, command_tool, in_words
from gateway.scenario import Fault, Turn
from gateway.sse import Event

Items = Sequence[Mapping[str, Any]]
BORN = 1_700_000_000
"""When everything here was made."""


_NOTHING = "Nothing to say."


class Refused(Exception):
    """A request that gets an error and no turn."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        retry_after: float | None = None,
        code: str | None = None,
        param: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.retry_after = retry_after
        self.code = code
        self.param = param


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request, as a scenario needs it."""

    request: Mapping[str, Any]
    answers: int
    """How often the model has had its turn in this conversation."""
    told: tuple[str, ...]
    """What tools and people said since the first of these, oldest first."""
    tools: tuple[Tool, ...]
    pieces: tuple[str, ...]
    """All that the model reads, in the order in which a provider's cache goes through it."""
    words: str | None = None
    """The conversation, where agents of the form may want their commands in words."""
    silent: bool = False
    """Nothing is to be said: the model only reads."""
    cacheable: int | None = None
    """The leading pieces that the client marks for the cache; `None` where the provider decides that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A turn, said to the agent at hand."""

    number: int
    """Of the turn in this conversation, from 0."""
    text: str
    reasoning: str = ""
    tool: Tool | None = None
    commands: tuple[str, ...] = ()
    """For the tool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens, at four characters each."""

    prompt: int
    cached: int
    """Of the prompt, read from the cache."""
    written: int
    """Of the prompt, written into the cache because the client wants it there."""
    answer: int
    reasoning: int
    """Of the answer."""


class Form(Protocol):
    """An API form, as a module that speaks it."""

    def read(self, request: Mapping[str, Any], history: Items) -> Asked:
        """What is asked; `history` is what the provider keeps and the request goes on from."""

    def answer(self, said: Said, asked: Asked, usage: Usage, serial: int) -> dict[str, Any]:
        """The whole answer, number `serial` of this provider."""

    def stream(self, whole: Mapping[str, Any], asked: Asked, fault: Fault) -> Iterator[Event]:
        """The same as events, to its end or to the error that the fault wants."""

    def error(self, refused: Refused) -> dict[str, Any]:
        """An error's body."""


def say(turn: Turn, asked: Asked) -> Said:
    """A turn with the request's own command tool, or in the text form that it asks for."""
    turn = turn.reads(asked.told)
    tool = command_tool(asked.tools)
    if tool is None:
        text = turn.text or _NOTHING if asked.words is None else in_words(turn, asked.words)
        return Said(number=asked.answers, text=text, reasoning=turn.reasoning)
    return Said(number=asked.answers, text=turn.text, reasoning=turn.reasoning, tool=tool, commands=turn.shell)


def pieces(text: str, size: int) -> Iterator[str]:
    """A text in the sizes that real providers send."""
    return (text[at : at + size] for at in range(0, len(text), size))


def text_of(value: object) -> str:
    """All text of a content or an output, whatever parts it comes in."""
    match value:
        case str():
            return value
        case list():
            return "\n".join(filter(None, map(text_of, value)))
        case dict():
            return "\n".join(filter(None, (text_of(value.get(k)) for k in ("text", "stdout", "stderr", "content"))))
    return ""
