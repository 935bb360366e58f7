"""Runs of lines of one text that stand in another, found by the line index of the other."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from rules_engine.lines import is_telling
from rules_engine.types import Earlier

_STEP = 64


@dataclass(frozen=True, slots=True)
class Run:
    """Lines ``start:end`` of a text that stand in `source` from line `at` on."""

    start: int
    end: int
    source: Earlier
    at: int

    @property
    def size(self) -> int:
        """How many lines it has."""
        return self.end - self.start

    def cut(self, start: int, end: int) -> Run:
        """The part of the run from line `start` to line `end` of the text."""
        return Run(start, end, self.source, self.at + start - self.start)


@dataclass(frozen=True, slots=True)
class Text:
    """The lines in which runs are looked for."""

    lines: tuple[str, ...]
    barred: tuple[int, ...]
    """Positions of lines that no run may hold, ascending."""

    def room(self, at: int, done: int) -> tuple[int, int]:
        """How far a run through line `at` may reach, back and ahead; not at all where that line is barred."""
        place = bisect_left(self.barred, at)
        high = self.barred[place] if place < len(self.barred) else len(self.lines)
        return max(done, self.barred[place - 1] + 1 if place else 0), high


def find_runs(text: Text, earlier: Sequence[Earlier], least: int) -> list[Run]:
    """Runs of at least so many lines, in order, none over another; the longest first, where several begin."""
    holders = _holders(frozenset(text.lines), earlier)
    if not holders:
        return []
    # Any run of `least` lines holds one whole window, so one line of each window is enough to find it.
    stride = max(least // 2, 1)
    windows = sorted({at // stride for at, line in enumerate(text.lines) if line in holders})
    sizes = list(map(len, text.lines))
    out: list[Run] = []
    done = 0
    for window in windows:
        places = range(max(window * stride, done), min((window + 1) * stride, len(sizes)))
        seed = max(places, key=sizes.__getitem__, default=-1)
        line = text.lines[seed]
        if seed < 0 or line not in holders or not is_telling(line):
            continue
        run = _longest(text, seed, done, holders[line], least)
        if run and run.size >= least:
            out.append(run)
            done = run.end
    return out


def _holders(lines: frozenset[str], earlier: Sequence[Earlier]) -> dict[str, list[Earlier]]:
    """For each of `lines` that stands in `earlier` texts, those texts."""
    out: dict[str, list[Earlier]] = {}
    for source in earlier:
        if source.places.keys().isdisjoint(lines):  # of most; it looks through the smaller of both
            continue
        for line in lines.intersection(source.places):
            out.setdefault(line, []).append(source)
    return out


def _longest(text: Text, seed: int, done: int, sources: Sequence[Earlier], least: int) -> Run | None:
    """The longest run through line `seed`, if one has `least` lines; among equals the latest text, whose lines are nearest."""
    low, high = text.room(seed, done)
    if seed >= high:
        return None
    best: Run | None = None
    for source in reversed(sources):
        for at in source.places[text.lines[seed]]:
            back, ahead = _reach(text.lines, seed, low, high, source, at)
            if back + ahead >= max(least, best.size + 1 if best else 0):
                best = Run(seed - back, seed + ahead, source, at - back)
    return best


def _reach(lines: tuple[str, ...], seed: int, low: int, high: int, source: Earlier, at: int) -> tuple[int, int]:
    """How many lines from `seed` on, back and ahead, are the same here and there."""
    there = source.lines
    top, room = min(high - seed, len(there) - at), min(seed - low, at)
    if source.hidden:
        top = min([top, *(k - at for k in source.hidden if k > at)])
        room = min([room, *(at - k - 1 for k in source.hidden if k < at)])
    ahead, back = 1, 0
    while ahead + _STEP < top and lines[seed + ahead : seed + ahead + _STEP] == there[at + ahead : at + ahead + _STEP]:
        ahead += _STEP
    while ahead < top and lines[seed + ahead] == there[at + ahead]:
        ahead += 1
    while back < room and lines[seed - back - 1] == there[at - back - 1]:
        back += 1
    return back, ahead
