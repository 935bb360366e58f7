"""Labels by hand: observations shown before and after, and what somebody who read them said; ids and labels only, no texts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from pathlib import Path

from tests.bench import tables
from tests.bench.rewritten import Rewritten, lines_of

FILE = Path(__file__).with_name("labels.json")
QUESTIONS = ("critical kept", "redundancy removed", "useful kept", "loss")
_WIDTH, _ROWS = 150, 60


def show(number: int, one: Rewritten) -> str:
    """An observation for reading: what is the same is told by its ends, what is not in full."""
    head = f"=== {number} {one.id} {one.state} {one.source} {one.nature} rule={one.by_rule} {len(one.raw)} → {len(one.shown)}"
    return "\n".join([head, f"$ {one.command[:300]!r}", *list(_differences(one))[:_ROWS]])


def report(path: Path, chosen: Iterable[Rewritten]) -> str:
    """What the labels say, and how many of them are about texts that are still forwarded so."""
    given = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    now = {one.id: one.state for one in chosen}
    same = sum(now.get(name) == label["shown"] for name, label in given.items())
    rows = []
    for question in QUESTIONS:
        marks = [label[question] for label in given.values() if label[question] is not None]
        rows.append([question, str(sum(marks)), str(len(marks)), f"{100 * sum(marks) / max(len(marks), 1):.0f} %"])
    words = f"{len(given)} were labelled by hand; {same} of them are drawn again now and forwarded as they were then."
    return f"{words}\n\n{tables.table(('by hand', 'yes', 'of', 'share'), rows)}"


def _differences(one: Rewritten) -> Iterator[str]:
    before, after = lines_of(one.raw), lines_of(one.shown)
    raw, shown = one.raw.split("\n"), one.shown.split("\n")
    for what, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if what == "equal":
            ends = raw[a : a + 1] + raw[max(b - 1, a + 1) : b]
            yield from (f"    {line[:_WIDTH]}" for line in ends[:1])
            yield from [f"    … {b - a - 2} lines the same"] if b - a > 2 else []
            yield from (f"    {line[:_WIDTH]}" for line in ends[1:])
        else:
            yield from _short("  - ", raw[a:b])
            yield from _short("  + ", shown[c:d])


def _short(sign: str, lines: list[str]) -> Iterator[str]:
    cut = lines if len(lines) <= 14 else [*lines[:9], f"… {len(lines) - 12} more …", *lines[-3:]]
    yield from (f"{sign}{line[:_WIDTH]}" for line in cut)
