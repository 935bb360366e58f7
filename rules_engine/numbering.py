"""How far the line numbers of one listing are shifted against those of another."""

from __future__ import annotations

import re
from collections.abc import Sequence

_PREFIX = re.compile(r"( *)(0|[1-9][0-9]{0,8})(→|\t|: ?|\| ?)")


def shift_between(here: str, there: str, core: str) -> int | None:
    """What must be added to the number of the line there to have the line here; `core` is both without their number."""
    if here == there:
        return 0
    mine, other = (_PREFIX.fullmatch(line, 0, len(line) - len(core)) for line in (here, there))
    if not mine or not other or mine[3] != other[3]:
        return None
    width, width_there = (len(found[1] + found[2]) if found[1] else 0 for found in (mine, other))
    return int(mine[2]) - int(other[2]) if width == width_there else None


def renumber(lines: Sequence[str], shift: int) -> list[str] | None:
    """The lines with `shift` added to their numbers, as wide as before if they are padded; `None` if one has none."""
    if not shift:
        return list(lines)
    out = []
    for line in lines:
        found = _PREFIX.match(line)
        if not found:
            return None
        width = len(found[1] + found[2]) if found[1] else 0
        out.append(str(int(found[2]) + shift).rjust(width) + line[found.end(2) :])
    return out
