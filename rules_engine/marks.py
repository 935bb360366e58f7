"""The lines that stand where text was left out: their wording, their recall ids, and how both are read back."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal

from rules_engine.types import Piece

QUOTED = 30
"""Characters of a first or last line that a pointer quotes, at most."""
SHORTEST_ID = 6

_QUOTE = rf"\"(.{{1,{QUOTED}}})\""
_HOW = r"(?:as shown above|identical to lines [0-9]+-[0-9]+ of [\w-]+)"
_SAYS = rf"\[([0-9]+) lines? (?:omitted|{_HOW}, {_QUOTE} to {_QUOTE}): echo recall:([0-9a-f]{{6,32}})\]"
_MARK = re.compile(_SAYS)
_MARKS = re.compile(f"^{_SAYS}$", re.M)
_BROKEN = r"\x00-\x08\x0a-\x1f\x7f\x85\u2028\u2029"
_PRINTED = re.compile(rf"[^\s{_BROKEN}][^{_BROKEN}]*")


@dataclass(frozen=True, slots=True)
class Mark:
    """What a mark line says."""

    kind: Literal["omitted", "shown"]
    lines: int
    id: str


def omitted(lines: int, recall_id: str) -> str:
    """The mark for lines that are left out: ``[214 lines omitted: echo recall:7f3a9c]``."""
    return f"[{_counted(lines)} omitted: echo recall:{recall_id}]"


def pointer(lines: int, where: str, first: Piece, last: Piece, recall_id: str) -> tuple[Piece, ...]:
    """The mark for lines that stand earlier in the request, at `where` if that has a name.

    ``[88 lines identical to lines 12-99 of call_7, "first line" to "last line": echo recall:51b2e0]``, else ``… as shown
    above, …``. `first` and `last` are slices, so that the mark holds no text of a tool's.
    """
    how = f"{_counted(lines)} {'identical to ' + where if where else 'as shown above'}"
    return (f'[{how}, "', first, '" to "', last, f'": echo recall:{recall_id}]')


def parse(line: str) -> Mark | None:
    """What `line` says if it is a mark, else `None`."""
    found = _MARK.fullmatch(line)
    return Mark("omitted" if found[2] is None else "shown", int(found[1]), found[4]) if found else None


def is_mark(line: str) -> bool:
    """The line has the form of a mark; whether it is one of ours only the decision knows."""
    return parse(line) is not None


def names(line: str, ids: Collection[str]) -> bool:
    """The line is a mark with one of `ids`."""
    mark = parse(line)
    return mark is not None and mark.id in ids


def find_ids(text: str) -> list[str]:
    """Recall ids of all lines of `text` that have the form of a mark, in order."""
    return [found[4] for found in _MARKS.finditer(text)] if "recall:" in text else []


def new_id(key: str, start: int, end: int, taken: Collection[str]) -> str:
    """A recall id for a slice of an observation: as short as may be, longer where that one is taken."""
    name = blake2b(f"{key}:{start}:{end}".encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    for size in range(SHORTEST_ID, len(name)):
        if name[:size] not in taken:
            return name[:size]
    return name


def quote(line: str) -> tuple[int, int]:
    """Slice of `line` that a pointer quotes: the first characters that print, without blanks around; empty if none do."""
    found = _PRINTED.search(line)
    if not found:
        return 0, 0
    start = found.start()
    return start, start + len(line[start : min(found.end(), start + QUOTED)].rstrip())


def _counted(lines: int) -> str:
    return "1 line" if lines == 1 else f"{lines} lines"
