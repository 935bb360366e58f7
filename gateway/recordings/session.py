"""What is read from recordings, whatever their form."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from gateway.messages.responses import is_made

Lines = Iterator[tuple[int, bytes]]
"""(number, text) of each line that is not empty."""
Note = Callable[[str], None]
"""Is told what was left out of a file, and why."""


ODD = (AttributeError, KeyError, TypeError, ValueError)
"""What comes of a line that is not as such lines are; it costs itself only."""


class RecordingError(Exception):
    """A file that holds no recorded sessions; says which line and why."""


@dataclass(frozen=True, slots=True)
class Session:
    """One recorded conversation, in the form of its agent's API."""

    name: str
    model: str | None
    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[object]
    agent: str = ""
    """Whose recording it is, where its form says so."""
    answers: Sequence[int] | None = None
    """Positions of the agent's turns that answered a request, where its form says so."""
    times: Mapping[int, float] = field(default_factory=dict)
    """When turns began, in seconds since the epoch, where its form says so."""

    @property
    def turns(self) -> Sequence[int]:
        """Positions of the agent's turns; each answered one request. A turn that opens the session answered none."""
        if self.answers is not None:
            return self.answers
        return [at for at in range(1, len(self.messages)) if self._is_turn(at)]

    @property
    def start(self) -> int:
        """Where it begins to hold what no session before it held: at its first own turn, if others came before that."""
        if self.answers is None:
            return 0
        first = self.answers[0] if self.answers else len(self.messages)
        return first if any(map(is_made, self.messages[:first])) else 0

    def turn(self, at: int) -> Sequence[Mapping[str, Any]]:
        """The turn at a position: one message, or all items up to the next that the agent did not make."""
        end = at + 1
        while end < len(self.messages) and self._goes_on(end):
            end += 1
        return self.messages[at:end]

    def _is_turn(self, at: int) -> bool:
        return is_made(self.messages[at]) and not ("type" in self.messages[at] and is_made(self.messages[at - 1]))

    def _goes_on(self, at: int) -> bool:
        message = self.messages[at]
        return "type" in message and is_made(message) and not (self.answers and at in self.answers)


class Form(Protocol):
    """A member of this folder."""

    def is_form(self, line: object) -> bool:
        """Whether a file in which a line holds this is of this form."""

    def read(self, lines: Lines, path: Path, note: Note) -> Iterator[Session]:
        """The sessions in it, as they are read. Raises `RecordingError`."""


def rows_of(lines: Lines, left_out: Counter[str]) -> Iterator[dict[str, Any]]:
    """The lines of a file that an agent wrote, and may be writing: those that are no JSON objects are counted."""
    try:
        for _, text in lines:
            row = value_of(text)
            if isinstance(row, dict):
                yield row
            else:
                left_out["without a JSON object"] += 1
    except RecordingError:
        left_out["behind which nothing can be read"] += 1


def value_of(text: bytes) -> object:
    """What a line holds; `None` if that is no JSON."""
    try:
        return json.loads(text.decode())
    except (ValueError, RecursionError):
        return None


def time_of(row: Mapping[str, Any]) -> float | None:
    """When a line was written."""
    try:
        return datetime.fromisoformat(str(row.get("timestamp"))).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def tell(left_out: Counter[str], path: Path, note: Note) -> None:
    """Say how many lines were left out, kind by kind."""
    for kind, count in sorted(left_out.items()):
        note(f"{path}: {count} {'line' if count == 1 else 'lines'} {kind}")
