"""Pointers in the place of lines that stand earlier in the request, with the texts that they lead to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from rules_engine import guards, marks
from rules_engine.draft import Draft
from rules_engine.kinds import shown
from rules_engine.lines import starts
from rules_engine.runs import Run
from rules_engine.script import Edit, trace
from rules_engine.types import Earlier, Omission, Settings, Source

RULE = ("shown", shown.VERSION)


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """What a pointer may not hide, part, or be named."""

    stays: Callable[[], frozenset[int]] | None
    """Which lines stay; asked only where a pointer would hide some, since it costs more than all the rest."""
    bound: Sequence[tuple[int, int]]
    """Runs of lines that stay, or go, together."""
    ids: frozenset[str]
    """Recall ids that are taken."""


def point(draft: Draft, key: str, earlier: Sequence[Earlier], settings: Settings, guard: Guard) -> Draft:
    """The draft with a pointer for each run of lines that stands in one of `earlier`."""
    lines = draft.text.split("\n")
    offsets = starts(lines)
    own = {omission.id for omission in draft.omissions}
    barred = frozenset(at for at, line in enumerate(lines) if line[:1] == "[" and marks.names(line, own))
    runs = shown.find(lines, earlier, settings, barred, guard.bound)
    if runs and guard.stays:
        runs = shown.find(lines, earlier, settings, barred | guard.stays(), guard.bound)
    spans = trace(draft.script, [(offsets[run.start], offsets[run.end] - 1) for run in runs])
    edits: list[Edit] = []
    omissions: list[Omission] = []
    sources: list[Source] = []
    ids = guard.ids | own
    for run, span in zip(runs, spans, strict=True):
        if span is None:
            continue
        name = marks.new_id(key, *span, ids)
        edit = _edit(run, lines, offsets, name)
        if guards.gains(edit):
            ids |= {name}
            edits.append(edit)
            omissions.append(Omission(id=name, spans=(span,), lines=run.end - run.start, rules=(RULE,)))
            sources.append(Source(key=run.source.key, digest=run.source.digest))
    if not edits:
        return draft
    after = draft.step(edits)
    return replace(
        after.credit(RULE, "lossless", len(draft.text) - len(after.text)),
        sources=tuple(dict.fromkeys(sources)),
        omissions=(*draft.omissions, *omissions),
    )


def _edit(run: Run, lines: Sequence[str], offsets: Sequence[int], name: str) -> Edit:
    first, last = (_quote(lines[at], offsets[at]) for at in (run.start, run.end - 1))
    start = run.source.number(run.at)
    where = f"lines {start}-{start + run.end - run.start - 1} of {run.source.name}" if run.source.name else ""
    pieces = marks.pointer(run.end - run.start, where, first, last, name)
    return offsets[run.start], offsets[run.end] - 1, pieces


def _quote(line: str, offset: int) -> tuple[int, int]:
    start, end = marks.quote(line)
    return offset + start, offset + end
