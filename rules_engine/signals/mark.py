"""A mark's text in what the agent writes: it took the mark for text of the tool's, and it now stands in a file or a message."""

from __future__ import annotations

from collections.abc import Sequence

from rules_engine.evolution.gaps import blamed, looks
from rules_engine.types import Signal, Turn

WEIGHT = 0.9


def detect(turns: Sequence[Turn]) -> tuple[Signal, ...]:
    """Signals for each mark of a rule that the newest turn writes, one against each rule behind it, since the lines of all
    are missing there; naming its id alone, as a recall does, is none."""
    said = turns[-1].said
    if "omitted: echo recall:" not in said:
        return ()
    return tuple(
        Signal(
            name="mark",
            key=look.observation.key,
            rules=(rule,),
            evidence=f"the mark of recall:{name} stands in what the agent wrote",
            weight=WEIGHT,
        )
        for look in looks(turns, len(turns))
        for name in dict.fromkeys(gap.id for gap in look.gaps)
        if f"omitted: echo recall:{name}]" in said
        for rule in blamed(gap for gap in look.gaps if gap.id == name)
    )
