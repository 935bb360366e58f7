"""A scenario: what a scripted model says, turn by turn, whatever form it is asked in.

{"turns": [{"text": "Look around.", "shell": "ls"}, {"shell": ["pytest -q", "git status"]}, {"text": "Done."}]}

A turn that reads: {"find": "see ([\\w/.]+)", "shell": "cat {found}"}
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

_FOUND = "{found}"


class ScenarioError(Exception):
    """A scenario that cannot be played; says which turn and which field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What goes wrong with a turn, and how often; a turn may also just be sent in an unusual manner."""

    times: int = 1
    """The turn is answered well after so many attempts; 0 means that it never is."""
    status: int | None = None
    retry_after: float | None = None
    error_event: str | None = None
    """An error inside the stream, after the head."""
    break_after: int | None = None
    """The connection breaks after so many chunks of a stream, or bytes of a whole answer."""
    delay_first: float = 0.0
    delay_each: float = 0.0
    """Seconds before the first byte, and before each further chunk."""
    encoding: str | None = None
    line_end: str = "\n"
    cut: int | None = None
    """Size of the pieces in bytes, whatever the chunks are."""
    no_done: bool = False
    """Only chat completions have such a mark at their end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One assistant message: words, shell commands, or both."""

    text: str = ""
    reasoning: str = ""
    shell: tuple[str, ...] = ()
    fault: Fault | None = None
    find: str | None = None
    """A pattern; its first group, or all that it matches, stands for `{found}` in words, and quoted in commands."""

    def reads(self, told: Sequence[str]) -> Turn:
        """The turn after what it was told, oldest first: the last match in the latest text that has one counts.

        Where nothing matches it says so and asks for nothing, which ends most agents.
        """
        if self.find is None:
            return self
        matches = (match for text in reversed(told) for match in list(re.finditer(self.find, text))[-1:])
        match = next(matches, None)
        if match is None:
            return replace(self, text=f"Nothing that I was told matches {self.find!r}.", shell=())
        found = str(match[1] if match.re.groups else match[0])
        commands = tuple(command.replace(_FOUND, shlex.quote(found)) for command in self.shell)
        return replace(self, text=self.text.replace(_FOUND, found), shell=commands)


@dataclass(frozen=True, slots=True)
class Scenario:
    """Turns, in order; the last one is said again to whoever goes on asking."""

    turns: tuple[Turn, ...] = field(default=(Turn(text="Done."),))

    def turn(self, answers: int) -> tuple[int, Turn]:
        """The turn that is due, by the number of answers that there are: a retry gets the same one."""
        due = min(answers, len(self.turns) - 1)
        return due, self.turns[due]


def load_scenario(text: str) -> Scenario:
    """A scenario from its JSON. Raises `ScenarioError`."""
    try:
        raw = json.loads(text)
    except ValueError as error:
        raise ScenarioError(f"the scenario is not JSON: {error}") from error
    turns = raw.get("turns") if isinstance(raw, dict) else None
    if not isinstance(turns, list) or not turns:
        raise ScenarioError('a scenario is an object with a list "turns" that is not empty')
    return Scenario(tuple(_load_turn(number, turn) for number, turn in enumerate(turns)))


def _load_turn(number: int, raw: object) -> Turn:
    try:
        fields = dict(raw)  # type: ignore[call-overload]
        shell = fields.pop("shell", ())
        fault = fields.pop("fault", None)
        re.compile(fields.get("find") or "")
        return Turn(
            **fields, shell=(shell,) if isinstance(shell, str) else tuple(shell), fault=fault and Fault(**fault)
        )
    except (TypeError, ValueError, re.error) as error:
        raise ScenarioError(f"turn {number} of the scenario cannot be read: {error}") from error
