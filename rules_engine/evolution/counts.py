"""How often lines of one shape were seen and used, and by how many independent witnesses; an upper bound, not a mean.

Only lines whose use could have shown count as trials, a session and a source each up to a limit: whoever floods an
archive is one witness.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import sqrt

LIMIT = 0.05
"""A shape is stripped if no more of its lines are used than this, at the upper end of what the trials allow."""
Z = 1.645
"""One-sided 95 %."""
SESSIONS = 5
SOURCES = 3
"""Independent witnesses that a shape needs."""
REPEATED = 2.0
"""Lines of a shape in an output, on the average: what comes once is a message, what is repeated may be noise."""
FAILED = 0.01
"""Largest share of a shape's lines that state a failure: they would stay, but a shape that has more is no noise."""
PER_SESSION = 20
PER_SOURCE = 100
"""Trials of one shape that are taken from one session and from one source."""


@dataclass(slots=True)
class Count:
    """What was seen of the lines of one shape."""

    outputs: int = 0
    lines: int = 0
    used: int = 0
    chars: int = 0
    failed: int = 0
    """Lines of the shape that state a failure, beside `lines`."""
    witnesses: dict[tuple[str, str], int] = field(default_factory=dict)
    """(source, session) → its trials."""
    names: Counter[str] = field(default_factory=Counter)
    """Families, by outputs."""

    @property
    def sources(self) -> int:
        """How many sources had lines of it."""
        return len({source for source, _ in self.witnesses})

    @property
    def trials(self) -> int:
        """How many lines count as evidence: those whose use could have shown, no more of one source than `PER_SOURCE`."""
        by_source: dict[str, int] = {}
        for (source, _), trials in self.witnesses.items():
            by_source[source] = by_source.get(source, 0) + trials
        return sum(min(PER_SOURCE, trials) for trials in by_source.values())

    def witness(self, source: str, session: str, trials: int) -> None:
        """Add lines of a session that count as evidence, no more of one session than `PER_SESSION`."""
        before = self.witnesses.get((source, session), 0)
        self.witnesses[source, session] = min(PER_SESSION, before + trials)

    def merge(self, other: Count) -> None:
        """Add what was counted elsewhere."""
        self.outputs += other.outputs
        self.lines += other.lines
        self.used += other.used
        self.chars += other.chars
        self.failed += other.failed
        for (source, session), trials in other.witnesses.items():
            self.witness(source, session, trials)
        self.names.update(other.names)

    def bound(self, more: int = 0) -> float:
        """Upper end, at 95 %, of the share of lines that agents use; `more` uses are added to those that were seen."""
        return upper(self.used + more, self.trials)

    def is_unused(self, more: int = 0) -> bool:
        """Whether enough independent sessions and sources show that lines of this shape are repeated and not used."""
        return (
            len(self.witnesses) >= SESSIONS
            and self.sources >= SOURCES
            and self.lines >= REPEATED * self.outputs
            and self.failed <= FAILED * self.lines
            and self.bound(more) <= LIMIT
        )


def upper(used: int, trials: int, z: float = Z) -> float:
    """Wilson's upper bound of a share; 1 where nothing was tried."""
    if trials <= 0:
        return 1.0
    share = min(used / trials, 1.0)
    spread = z * sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    return min((share + z * z / (2 * trials) + spread) / (1 + z * z / trials), 1.0)
