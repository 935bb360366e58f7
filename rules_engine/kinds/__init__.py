"""How a text is edited: lossless kinds, each with a check that proves it, and lossy kinds, driven by rules.

A member is one module; it is listed here, in the order in which the engine runs them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from rules_engine.script import Edit
from rules_engine.types import Earlier, Observation, Settings


@dataclass(frozen=True, slots=True)
class Encoded:
    """Edits over a text, and what `verify` needs to undo them (a width, an indent): a few characters at most."""

    edits: tuple[Edit, ...]
    note: str = ""


class Lossless(Protocol):
    """A kind after which everything is still in the context, or can be read off it."""

    VERSION: int
    """Raised whenever the form changes: decisions record it."""

    def encode(self, text: str, observation: Observation) -> Encoded | None:
        """Edits that make `text` (the observation's, after the kinds before) shorter; `None` if there are none."""

    def verify(self, text: str, result: str, note: str) -> bool:
        """Execute the inverse on `result` and compare with `text`."""


class Lossy(Protocol):
    """A kind that leaves something out, as a rule says."""

    VERSION: int

    def parse(self, raw: Mapping[str, object]) -> Any:
        """A rule's `params`, checked and compiled. Raises `RuleError` with the field that is wrong."""

    def drop(self, lines: tuple[str, ...], params: Any, protected: frozenset[int]) -> tuple[int, ...]:
        """Positions of the lines to leave out, ascending; never one that is protected."""


class Bound(Protocol):
    """A kind whose form speaks of lines around it."""

    def bound(self, lines: Sequence[str]) -> list[tuple[int, int]]:
        """Runs of lines of a result that must stay together to be read right."""


class Pointing(Protocol):
    """A kind that leads to texts earlier in the request; it works on what the others made."""

    VERSION: int

    def find(
        self,
        lines: Sequence[str],
        earlier: Sequence[Earlier],
        settings: Settings,
        barred: frozenset[int],
        bound: Sequence[tuple[int, int]],
    ) -> list[Any]:
        """Runs of `lines` that stand in `earlier` texts, without `barred` lines, none that is `bound` parted."""

    def verify(self, run: Any, lines: Sequence[str]) -> bool:
        """Follow the pointer, and compare with the lines that it hides."""


# The members import the types above, so they can be named only after them.
from rules_engine.kinds import (  # noqa: E402
    alike,
    blanks,
    fold,
    gutter,
    line_filter,
    line_score,
    prefix,
    repeats,
    search,
    shown,
    structured,
    terminal,
)

LOSSLESS: Mapping[str, Lossless] = {
    "terminal": terminal,
    "gutter": gutter,
    "blanks": blanks,
    "repeats": repeats,
    "fold": fold,
    "prefix": prefix,
    "search": search,
    "structured": structured,
}
"""Kinds that always run, in this order."""

GROUPING = frozenset({"fold", "prefix", "search", "structured"})
"""Those of them that put what is left into another form, so that they run after the rules."""

BOUND: Mapping[str, Bound] = {"repeats": repeats, "fold": fold, "prefix": prefix, "search": search}
"""Those of them whose lines must not be parted."""

POINTING: Mapping[str, Pointing] = {"shown": shown}
"""Kinds that need the texts before."""

KINDS: Mapping[str, Lossy] = {"line_filter": line_filter, "line_score": line_score, "alike": alike}
"""Kinds that a rule may name."""
