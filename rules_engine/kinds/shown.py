"""Already shown: a run of lines that stands in an earlier text of the request becomes a pointer to it."""

from __future__ import annotations

from collections.abc import Sequence

from rules_engine.lines import is_telling
from rules_engine.marks import quote
from rules_engine.runs import Run, Text, find_runs
from rules_engine.types import Earlier, Settings

VERSION = 1


def find(
    lines: Sequence[str],
    earlier: Sequence[Earlier],
    settings: Settings,
    barred: frozenset[int] = frozenset(),
    bound: Sequence[tuple[int, int]] = (),
) -> list[Run]:
    """Runs of `lines` to be hidden, in order: long enough, without `barred` lines, lines at their seams kept.

    A run of lines that is `bound` together, such as a fold and its values, is hidden whole or not at all.
    """
    text = Text(tuple(lines), tuple(sorted(barred)))
    inner = (_inside(run, text.lines, settings.seam_lines) for run in find_runs(text, earlier, settings.pointer_lines))
    whole = (_unparted(run, text.lines, bound) for run in inner)
    return [run for run in whole if run.start < run.end and verify(run, text.lines)]


def verify(run: Run, lines: Sequence[str]) -> bool:
    """Execute the inverse: the source, read as the mark says, gives the hidden lines."""
    return run.source.lines[run.at : run.at + run.size] == tuple(lines[run.start : run.end])


def _inside(run: Run, lines: Sequence[str], seam: int) -> Run:
    """The run without the lines kept at its seams."""
    start = run.start + seam if run.start else 0
    end = run.end - seam if any(lines[run.end :]) else run.end
    return run.cut(start, max(start, end))


def _unparted(run: Run, lines: Sequence[str], bound: Sequence[tuple[int, int]]) -> Run:
    """The run without parts of what is bound together, beginning and ending with a line that can be quoted."""
    start, end = run.start, run.end
    for first, last in bound:
        if first < start < last:
            start = last
        if first < end < last:
            end = first
    while start < end and not _is_quotable(lines[start]):
        start += 1
    while start < end and not _is_quotable(lines[end - 1]):
        end -= 1
    return run.cut(start, max(start, end))


def _is_quotable(line: str) -> bool:
    start, end = quote(line)
    return is_telling(line[start:end])
