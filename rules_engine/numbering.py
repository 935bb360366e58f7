"""How the line numbers of one listing relate to those of another: equal, shifted, only here, or only there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

_PREFIX = re.compile(r"( *)(0|[1-9][0-9]{0,8})(→|\t|: ?|\| ?)")

Way = Literal["same", "shifted", "numbered", "bare"]


@dataclass(frozen=True, slots=True)
class Relation:
    """What must be done to the lines there to have the lines here."""

    way: Way
    by: int = 0
    """Added to each number if shifted; where the lines are numbered only here, the number of line 0."""


SAME = Relation("same")


def relate(here: str, there: str, core: str, at: int) -> Relation | None:
    """The relation of two lines that have the same `core`; `at` is the position of the line here."""
    if here == there:
        return SAME
    mine, other = (_PREFIX.fullmatch(line, 0, len(line) - len(core)) for line in (here, there))
    if mine and other:
        aligned = len(mine[1] + mine[2]) == len(other[1] + other[2]) or not (mine[1] or other[1])
        return Relation("shifted", int(mine[2]) - int(other[2])) if aligned and mine[3] == other[3] else None
    if mine and there == core:
        return None if mine[1] else Relation("numbered", int(mine[2]) - at)
    return Relation("bare") if other and here == core else None


def restore(lines: Sequence[str], relation: Relation, first: str) -> list[str] | None:
    """The lines here, made from `lines` there and the beginning of the first line here; `None` if that fails."""
    if relation.way == "same":
        return list(lines)
    if relation.way == "numbered":
        start = _PREFIX.match(first)
        return [f"{int(start[2]) + k}{start[3]}{line}" for k, line in enumerate(lines)] if start else None
    out = []
    for line in lines:
        found = _PREFIX.match(line)
        if not found:
            return None
        rest = line[found.end() :]
        number = str(int(found[2]) + relation.by).rjust(len(found[1] + found[2]) if found[1] else 0)
        out.append(rest if relation.way == "bare" else number + found[3] + rest)
    return out
