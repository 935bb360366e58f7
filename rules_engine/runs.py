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
    out: list[Run] = []
    sizes = list(map(len, text.lines))
    # Any run of `least` lines holds one whole window, so one line of each window is enough to find it.
    windows = _windows(len(sizes), max(least // 2, 1))
    likely = {text.lines[max(places, key=sizes.__getitem__)] for places in windows}
    earlier = [source for source in earlier if not source.places.keys().isdisjoint(likely)]
    done = 0
    for places in windows if earlier else ():
        seed = max(range(max(places.start, done), places.stop), key=sizes.__getitem__, default=-1)
        if seed < 0 or not is_telling(text.lines[seed]):
            continue
        run = _longest(text, seed, done, earlier)
        if run and run.end - run.start >= least:
            out.append(run)
            done = run.end
    return out


def _windows(size: int, stride: int) -> list[range]:
    return [range(start, min(start + stride, size)) for start in range(0, size, stride)]


def _longest(text: Text, seed: int, done: int, earlier: Sequence[Earlier]) -> Run | None:
    """The longest run through line `seed`; among equals the latest text, whose lines are nearest."""
    line = text.lines[seed]
    sources = [source for source in earlier if line in source.places]
    low, high = text.room(seed, done)
    if seed >= high:
        return None
    found = []
    for source in reversed(sources):
        for at in source.places[line]:
            back, ahead = _reach(text.lines, seed, low, high, source, at)
            found.append(Run(seed - back, seed + ahead, source, at - back))
    return max(found, key=lambda run: run.end - run.start, default=None)


def _reach(lines: tuple[str, ...], seed: int, low: int, high: int, source: Earlier, at: int) -> tuple[int, int]:
    """How many lines from `seed` on, back and ahead, are equal here and there."""
    there = source.lines
    top, room = min(high - seed, len(there) - at), min(seed - low, at)
    if source.hidden:
        top = min([top, *(k - at for k in source.hidden if k > at)])
        room = min([room, *(at - k - 1 for k in source.hidden if k < at)])
    ahead = back = 0
    while (
        ahead < top
        and lines[seed + ahead : seed + min(ahead + _STEP, top)] == there[at + ahead : at + min(ahead + _STEP, top)]
    ):
        ahead = min(ahead + _STEP, top)
    while ahead < top and lines[seed + ahead] == there[at + ahead]:
        ahead += 1
    while back < room and lines[seed - back - 1] == there[at - back - 1]:
        back += 1
    return back, ahead
