"""Already shown: a run of lines that stands verbatim in an earlier text of the request becomes a pointer to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rules_engine.lines import is_telling
from rules_engine.types import Earlier, Settings

VERSION = 1
_STEP = 64


@dataclass(frozen=True, slots=True)
class Run:
    """Lines ``start:end`` of a text that equal the lines of `source` from `at` on."""

    start: int
    end: int
    source: Earlier
    at: int

    def cut(self, start: int, end: int) -> Run:
        """The part of the run from line `start` to line `end` of the text."""
        return Run(start, end, self.source, self.at + start - self.start)


def find(
    lines: Sequence[str], earlier: Sequence[Earlier], settings: Settings, barred: frozenset[int] = frozenset()
) -> list[Run]:
    """Runs of `lines` to be hidden, in order: long enough, not touching `barred` lines, lines at their seams kept."""
    out = []
    for run in _runs(tuple(lines), earlier, settings.pointer_lines, barred):
        hidden = _inside(run, lines, settings.seam_lines)
        if hidden.start < hidden.end:
            out.append(hidden)
    return out


def _runs(lines: tuple[str, ...], earlier: Sequence[Earlier], least: int, barred: frozenset[int]) -> list[Run]:
    out: list[Run] = []
    stride = max(least // 2, 1)
    done = 0
    for window in range(0, len(lines), stride):
        # Any run of `least` lines holds one whole window, so one line of each window is enough to find it.
        seed = max(
            range(max(window, done), min(window + stride, len(lines))), key=lambda at: len(lines[at]), default=-1
        )
        if seed < 0 or seed in barred or not is_telling(lines[seed]):
            continue
        run = _longest(lines, seed, done, earlier, barred)
        if run and run.end - run.start >= least:
            out.append(run)
            done = run.end
    return out


def _longest(
    lines: tuple[str, ...], seed: int, low: int, earlier: Sequence[Earlier], barred: frozenset[int]
) -> Run | None:
    """The longest run through line `seed`; among equals the latest text, whose lines are nearest."""
    best: Run | None = None
    high = min((at for at in barred if at > seed), default=len(lines))
    low = max((at + 1 for at in barred if low <= at < seed), default=low)
    for source in reversed(earlier):
        for at in source.places.get(lines[seed], ()):
            run = _extend(lines, seed, at, source, low, high)
            if best is None or run.end - run.start > best.end - best.start:
                best = run
    return best


def _extend(lines: tuple[str, ...], seed: int, at: int, source: Earlier, low: int, high: int) -> Run:
    there = source.lines
    top = min(high - seed, len(there) - at)
    ahead = 1
    while (
        ahead < top
        and lines[seed + ahead : seed + min(ahead + _STEP, top)] == there[at + ahead : at + min(ahead + _STEP, top)]
    ):
        ahead = min(ahead + _STEP, top)
    while ahead < top and lines[seed + ahead] == there[at + ahead]:
        ahead += 1
    room = min(seed - low, at)
    back = 0
    while back < room and lines[seed - back - 1] == there[at - back - 1]:
        back += 1
    for hidden in source.hidden:
        if at < hidden < at + ahead:
            ahead = hidden - at
        elif at - back <= hidden < at:
            back = at - hidden - 1
    return Run(seed - back, seed + ahead, source, at - back)


def _inside(run: Run, lines: Sequence[str], seam: int) -> Run:
    """The run without the lines kept at its seams, beginning and ending with a line that can be quoted."""
    start = run.start + seam if run.start else 0
    end = run.end - seam if any(lines[run.end :]) else run.end
    while start < end and not is_telling(lines[start]):
        start += 1
    while start < end and not is_telling(lines[end - 1]):
        end -= 1
    return run.cut(start, max(start, end))
