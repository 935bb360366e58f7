"""Runs of lines of one text that stand in another, found by the line index of the other."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from rules_engine.lines import is_telling
from rules_engine.numbering import shift_between
from rules_engine.types import Earlier

FARTHEST = 30
"""An edit moves what follows by some lines; equal lines that are farther away are another place, whose numbers matter.

Only in windows that an editor shows unasked after each edit, as it does in the terminals of agents without calls: who
calls for a listing again wants its new numbers.
"""
_STEP = 64


@dataclass(frozen=True, slots=True)
class Run:
    """Lines ``start:end`` of a text that stand in `source` from line `at` on, with line numbers smaller by `shift`."""

    start: int
    end: int
    source: Earlier
    at: int
    shift: int = 0

    @property
    def size(self) -> int:
        """How many lines it has."""
        return self.end - self.start

    def cut(self, start: int, end: int) -> Run:
        """The part of the run from line `start` to line `end` of the text."""
        return Run(start, end, self.source, self.at + start - self.start, self.shift)


@dataclass(frozen=True, slots=True)
class Text:
    """The lines in which runs are looked for."""

    lines: tuple[str, ...]
    cores: tuple[str, ...]
    barred: tuple[int, ...]
    """Positions of lines that no run may hold, ascending."""

    def room(self, at: int, done: int) -> tuple[int, int]:
        """How far a run through line `at` may reach, back and ahead; not at all where that line is barred."""
        place = bisect_left(self.barred, at)
        high = self.barred[place] if place < len(self.barred) else len(self.lines)
        return max(done, self.barred[place - 1] + 1 if place else 0), high


def find_runs(text: Text, earlier: Sequence[Earlier], least: int) -> list[Run]:
    """Runs of at least so many lines, in order, none over another; the longest first, where several begin."""
    holders = _holders(frozenset(text.cores), earlier)
    if not holders:
        return []
    # Any run of `least` lines holds one whole window, so one line of each window is enough to find it.
    stride = max(least // 2, 1)
    windows = sorted({at // stride for at, core in enumerate(text.cores) if core in holders})
    sizes = list(map(len, text.cores))
    out: list[Run] = []
    done = 0
    for window in windows:
        places = range(max(window * stride, done), min((window + 1) * stride, len(sizes)))
        seed = max(places, key=sizes.__getitem__, default=-1)
        core = text.cores[seed]
        if seed < 0 or core not in holders or not is_telling(core):
            continue
        run = _longest(text, seed, done, holders[core], least)
        if run and run.size >= least:
            out.append(run)
            done = run.end
    return out


def _holders(cores: frozenset[str], earlier: Sequence[Earlier]) -> dict[str, list[Earlier]]:
    """For each of `cores` that stands in `earlier` texts, those texts."""
    out: dict[str, list[Earlier]] = {}
    for source in earlier:
        if source.places.keys().isdisjoint(cores):  # of most; it looks through the smaller of both
            continue
        for core in cores.intersection(source.places):
            out.setdefault(core, []).append(source)
    return out


def _longest(text: Text, seed: int, done: int, sources: Sequence[Earlier], least: int) -> Run | None:
    """The longest run through line `seed`, if one has `least` lines; among equals the latest text, whose lines are nearest."""
    low, high = text.room(seed, done)
    if seed >= high:
        return None
    found = []
    for source in reversed(sources):
        for at in source.places[text.cores[seed]]:
            back, ahead = _reach(text.cores, seed, low, high, source, at)
            if back + ahead >= least:
                found.append(Run(seed - back, seed + ahead, source, at - back))
    best: Run | None = None
    for run in sorted(found, key=lambda run: -run.size):
        if best and best.size >= run.size:
            break
        shifted = _shifted(text, seed, run)
        if best is None or shifted.size > best.size:
            best = shifted
    return best


def _reach(cores: tuple[str, ...], seed: int, low: int, high: int, source: Earlier, at: int) -> tuple[int, int]:
    """How many lines from `seed` on, back and ahead, have equal cores here and there."""
    there = source.cores
    top, room = min(high - seed, len(there) - at), min(seed - low, at)
    if source.hidden:
        top = min([top, *(k - at for k in source.hidden if k > at)])
        room = min([room, *(at - k - 1 for k in source.hidden if k < at)])
    ahead, back = 1, 0
    while ahead + _STEP < top and cores[seed + ahead : seed + ahead + _STEP] == there[at + ahead : at + ahead + _STEP]:
        ahead += _STEP
    while ahead < top and cores[seed + ahead] == there[at + ahead]:
        ahead += 1
    while back < room and cores[seed - back - 1] == there[at - back - 1]:
        back += 1
    return back, ahead


def _shifted(text: Text, seed: int, run: Run) -> Run:
    """The part of `run` around `seed` in which the line numbers are shifted as they are there."""
    there = run.source.lines
    if text.lines[run.start : run.end] == there[run.at : run.at + run.size]:
        return run
    apart = run.at - run.start

    def shift(at: int) -> int | None:
        return shift_between(text.lines[at], there[at + apart], text.cores[at])

    kept = shift(seed)
    if kept is None or abs(kept) > (0 if run.source.name else FARTHEST):
        return run.cut(seed, seed)
    start, end = seed, seed + 1
    while start > run.start and shift(start - 1) == kept:
        start -= 1
    while end < run.end and shift(end) == kept:
        end += 1
    return Run(start, end, run.source, start + apart, kept)
