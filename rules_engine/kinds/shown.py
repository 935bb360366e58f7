"""Already shown: a run of lines that stands in an earlier text of the request becomes a pointer to it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from rules_engine.lines import bare, is_telling
from rules_engine.marks import quote
from rules_engine.numbering import renumber, shift_between
from rules_engine.types import Earlier, Settings

VERSION = 1

FARTHEST = 30
"""An edit moves what follows by some lines; equal lines that are farther away are another place, whose numbers matter."""
_STEP = 64


@dataclass(frozen=True, slots=True)
class Run:
    """Lines ``start:end`` of a text that stand in `source` from line `at` on, with line numbers smaller by `shift`."""

    start: int
    end: int
    source: Earlier
    at: int
    shift: int = 0

    def cut(self, start: int, end: int) -> Run:
        """The part of the run from line `start` to line `end` of the text."""
        return Run(start, end, self.source, self.at + start - self.start, self.shift)


@dataclass(frozen=True, slots=True)
class _Text:
    lines: tuple[str, ...]
    cores: tuple[str, ...]
    barred: tuple[int, ...]
    """Positions of lines that no run may hold, ascending."""

    def room(self, at: int, done: int) -> tuple[int, int]:
        """How far a run through line `at` may reach, back and ahead; not at all where that line is barred."""
        place = bisect_left(self.barred, at)
        high = self.barred[place] if place < len(self.barred) else len(self.lines)
        return max(done, self.barred[place - 1] + 1 if place else 0), high


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
    text = _Text(tuple(lines), bare(lines), tuple(sorted(barred)))
    inner = (_inside(run, text.lines, settings.seam_lines) for run in _runs(text, earlier, settings.pointer_lines))
    whole = (_unparted(run, text.lines, bound) for run in inner)
    return [run for run in whole if run.start < run.end and verify(run, text.lines)]


def verify(run: Run, lines: Sequence[str]) -> bool:
    """Execute the inverse: the source, read as the mark says, gives the hidden lines."""
    there = run.source.lines[run.at : run.at + run.end - run.start]
    return renumber(there, run.shift) == list(lines[run.start : run.end])


def _runs(text: _Text, earlier: Sequence[Earlier], least: int) -> list[Run]:
    out: list[Run] = []
    stride = max(least // 2, 1)
    done = 0
    for window in range(0, len(text.lines), stride):
        # Any run of `least` lines holds one whole window, so one line of each window is enough to find it.
        places = range(max(window, done), min(window + stride, len(text.lines)))
        seed = max(places, key=lambda at: len(text.cores[at]), default=-1)
        if seed < 0 or not is_telling(text.cores[seed]):
            continue
        run = _longest(text, seed, done, earlier)
        if run and run.end - run.start >= least:
            out.append(run)
            done = run.end
    return out


def _longest(text: _Text, seed: int, done: int, earlier: Sequence[Earlier]) -> Run | None:
    """The longest run through line `seed`; among equals the latest text, whose lines are nearest."""
    core = text.cores[seed]
    sources = [source for source in earlier if core in source.places]
    if not sources:
        return None
    low, high = text.room(seed, done)
    if seed >= high:
        return None
    found = []
    for source in reversed(sources):
        for at in source.places[core]:
            back, ahead = _reach(text.cores, seed, low, high, source, at)
            found.append((back + ahead, Run(seed - back, seed + ahead, source, at - back)))
    best: Run | None = None
    for length, run in sorted(found, key=lambda item: -item[0]):
        if best and best.end - best.start >= length:
            break
        shifted = _shifted(text, seed, run)
        if best is None or shifted.end - shifted.start > best.end - best.start:
            best = shifted
    return best


def _reach(cores: tuple[str, ...], seed: int, low: int, high: int, source: Earlier, at: int) -> tuple[int, int]:
    """How many lines from `seed` on, back and ahead, have equal cores here and there."""
    there = source.cores
    top, room = min(high - seed, len(there) - at), min(seed - low, at)
    if source.hidden:
        top = min([top, *(k - at for k in source.hidden if k > at)])
        room = min([room, *(at - k - 1 for k in source.hidden if k < at)])
    ahead = back = 0
    while (
        ahead < top
        and cores[seed + ahead : seed + min(ahead + _STEP, top)] == there[at + ahead : at + min(ahead + _STEP, top)]
    ):
        ahead = min(ahead + _STEP, top)
    while ahead < top and cores[seed + ahead] == there[at + ahead]:
        ahead += 1
    while back < room and cores[seed - back - 1] == there[at - back - 1]:
        back += 1
    return back, ahead


def _shifted(text: _Text, seed: int, run: Run) -> Run:
    """The part of `run` around `seed` in which the line numbers are shifted as they are there."""
    there = run.source.lines
    if text.lines[run.start : run.end] == there[run.at : run.at + run.end - run.start]:
        return run
    apart = run.at - run.start

    def shift(at: int) -> int | None:
        return shift_between(text.lines[at], there[at + apart], text.cores[at])

    kept = shift(seed)
    if kept is None or abs(kept) > FARTHEST:
        return run.cut(seed, seed)
    start, end = seed, seed + 1
    while start > run.start and shift(start - 1) == kept:
        start -= 1
    while end < run.end and shift(end) == kept:
        end += 1
    return Run(start, end, run.source, start + apart, kept)


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
