"""Rules for lines that are alike, given beforehand as the seeds are: many lines say the same of one thing each.

In recorded sessions 1 of 120 outputs had a line that such a rule leaves out and that the agent went on to use.
"""

from __future__ import annotations

from rules_engine.deeds import DEEDS, SCRIPTS, STAMPS
from rules_engine.types import Rule, Trigger


def _alike(name: str, trigger: str, description: str, priority: int, **params: object) -> Rule:
    return Rule(
        id=name,
        kind="alike",
        trigger=Trigger(pattern=trigger),
        params=params,
        description=f"{description} that differ in numbers and names only: the first ones, the last and those that stand out stay",
        priority=priority,
        on_failing=True,
    )


ALIKES: tuple[Rule, ...] = (
    _alike("alike_steps", DEEDS, "Lines of what is run for what it does", 70, fewest=8),
    _alike("alike_lines", SCRIPTS, "Many lines of a script", 71, fewest=40),
    _alike("alike_events", ".", "Events of a log", 72, fewest=8, only_patterns=list(STAMPS)),
)
"""In the order in which they are tried. What was asked for, a listing, a table or data, is none of their business."""
