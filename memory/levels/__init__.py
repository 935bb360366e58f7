"""L0 to L3: rules, index, facts, procedures, with candidates on the way there and links down to what proves them.

quotes from L4 ─propose→ candidates ─promote→ L2, L3 ─build→ L1
"""

from __future__ import annotations

from memory.levels.candidates import Candidate, Witness
from memory.levels.facts import Fact
from memory.levels.insight import Built
from memory.levels.pointers import Pointer, read_pointer
from memory.levels.procedures import Procedure
from memory.levels.provenance import Evidence, Link
from memory.levels.upper import Archived, Levels, Why

__all__ = [
    "Archived",
    "Built",
    "Candidate",
    "Evidence",
    "Fact",
    "Levels",
    "Link",
    "Pointer",
    "Procedure",
    "Why",
    "Witness",
    "read_pointer",
]
