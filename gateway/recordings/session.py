"""What is read from recordings, whatever their form."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from gateway.messages.responses import is_made

Lines = Iterator[tuple[int, str]]
"""(number, text) of each line that is not empty."""
Note = Callable[[str], None]
"""Is told what was left out of a file, and why."""


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
    start: int = 0
    """Earlier turns are those of a session that this one goes on from."""

    @property
    def turns(self) -> list[int]:
        """Positions of the agent's turns; each answered one request. A turn that opens the session answered none."""
        return [at for at in range(max(1, self.start), len(self.messages)) if self._is_turn(at)]

    def turn(self, at: int) -> Sequence[Mapping[str, Any]]:
        """The turn at a position: one message, or all items up to the next that the agent did not make."""
        end = at + 1
        while end < len(self.messages) and is_made(self.messages[end]) and not self._is_turn(end):
            end += 1
        return self.messages[at:end]

    def _is_turn(self, at: int) -> bool:
        return is_made(self.messages[at]) and not ("type" in self.messages[at] and is_made(self.messages[at - 1]))


class Form(Protocol):
    """A member of this folder."""

    def is_form(self, first: object) -> bool:
        """Whether a file whose first line holds this is of this form."""

    def read(self, lines: Lines, path: Path, note: Note) -> Iterator[Session]:
        """The sessions in it, as they are read. Raises `RecordingError`."""


def rows_of(lines: Lines, left_out: Counter[str]) -> Iterator[dict[str, Any]]:
    """The lines of a file that an agent wrote, and may be writing: those that are no JSON objects are counted."""
    for _, text in lines:
        try:
            row = json.loads(text)
        except (ValueError, RecursionError):
            row = None
        if isinstance(row, dict):
            yield row
        else:
            left_out["without a JSON object"] += 1


def tell(left_out: Counter[str], path: Path, note: Note) -> None:
    """Say how many lines were left out, kind by kind."""
    for kind, count in sorted(left_out.items()):
        note(f"{path}: {count} {'line' if count == 1 else 'lines'} {kind}")
