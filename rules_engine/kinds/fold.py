"""Lines of one shape that follow each other: the shape once, as a format string, and under it the values of each line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby
from operator import add, eq

from rules_engine.critical import criticals, verdicts
from rules_engine.guards import gains
from rules_engine.kinds import Encoded
from rules_engine.lines import headed, starts
from rules_engine.natures import nature
from rules_engine.script import Edit
from rules_engine.types import Observation, Piece

VERSION = 1

Span = tuple[int, int]
Words = Sequence[str]

_FEWEST, _ABOVE = 6, 12
_LARGEST = 500_000
_WIDEST = 1000
_FIGURES = "0123456789.,:;|+-*/%=()[]"
_WORD = re.compile(r"(\S+)")
_OPEN, _CLOSE = ' lines of the form "', '", each given by its values:]'
_HEAD = re.compile(rf"\[(\d+){_OPEN}(.*){re.escape(_CLOSE)}")


def encode(text: str, observation: Observation) -> Encoded | None:
    """Fold runs of lines that differ in whole words; failures, results and all but terminal output stay as they are."""
    if observation.escaped or len(text) > _LARGEST or _CLOSE in text or nature(observation) != "terminal":
        # In a JSON string a value right after a line break reads as "nvalue".
        return None
    lines = text.split("\n")
    words = [line.split() if len(line) <= _WIDEST else [] for line in lines]
    runs = list(_runs(words, lines))
    if not runs:
        return None
    offsets = starts(lines)
    stays = _stays(lines, runs[0][0], runs[-1][1])
    parts = [part for run in runs for part in _without(run, stays)]
    edits = (_edit(lines[first:end], words[first:end], offsets[first]) for first, end in parts)
    folded = tuple(edit for edit in edits if edit and gains(edit))
    return Encoded(edits=folded) if folded else None


def _runs(words: Sequence[Words], lines: Sequence[str]) -> Iterator[Span]:
    """Runs of lines with equally many words, at least a third of whose characters are in words that they share."""
    at = 0
    for count, group in groupby(words, key=len):
        end = at + len(list(group))
        while count > 1 and end - at >= _FEWEST:
            stop = _stop(words, lines, at, end)
            if stop - at >= _FEWEST:
                yield at, stop
            at = stop
        at = end


def _stop(words: Sequence[Words], lines: Sequence[str], first: int, end: int) -> int:
    """The first line that does not share enough words with those before; figures don't make a shape."""
    head = words[first]
    if not any(map(eq, head, words[first + 1])):
        return first + 1
    shared = [place for place, word in enumerate(head) if word.strip(_FIGURES)]
    weight = sum([len(head[place]) + 1 for place in shared])
    for at in range(first, end):
        row = words[at]
        for place in [place for place in shared if row[place] != head[place]]:
            shared.remove(place)
            weight -= len(head[place]) + 1
        if 3 * weight < len(lines[at]):
            return max(at, first + 1)
    return end


def _stays(lines: Sequence[str], first: int, end: int) -> frozenset[int]:
    """Lines that state a failure, belong to one that is stated just above, or state a result."""
    begin = max(first - _ABOVE, 0)
    # The last line of a text counts as its verdict; the last of this part is that only if nothing comes after it.
    more = ["."] * any(map(str.strip, lines[end:]))
    found = criticals(lines[begin:end]) | verdicts([*lines[begin:end], *more])
    return frozenset(begin + at for at in found)


def _without(run: Span, stays: frozenset[int]) -> Iterator[Span]:
    """The parts of a run between lines that stay as they are."""
    at = run[0]
    for stop in [*(line for line in range(*run) if line in stays), run[1]]:
        if stop - at >= _FEWEST:
            yield at, stop
        at = stop + 1


def _edit(lines: Sequence[str], words: Sequence[Words], offset: int) -> Edit | None:
    first = lines[0]
    parts = [_WORD.split(line) for line in lines]
    spans = [_spans(row) for row in parts]
    varying = [at for at, column in enumerate(zip(*words, strict=True)) if len(set(column)) > 1]
    fields = _fields(parts, spans, varying)
    if not fields or any(mark in first for mark in "{}\r"):
        return None
    pieces: list[Piece] = [f"[{len(lines)}{_OPEN}"]
    at = 0
    for start, end, field in fields:
        pieces += [(offset + at, offset + start), field]
        at = end
    pieces += [(offset + at, offset + len(first)), _CLOSE]
    begin = offset
    for line, places in zip(lines, spans, strict=True):
        # Line ends and blanks are slices, too: they are in the text already.
        pieces.append((begin - 1, begin) if begin > offset else "\n")
        low, high = places[varying[0]]
        for column in varying[1:]:
            start, end = places[column]
            if line[high:start] != " ":
                blank: Piece = (begin + high, begin + high + 1) if line[high] == " " else " "
                pieces += [(begin + low, begin + high), blank]
                low = start
            high = end
        pieces.append((begin + low, begin + high))
        begin += len(line) + 1
    return offset, begin - 1, tuple(pieces)


def _spans(parts: Sequence[str]) -> list[Span]:
    """Where the words stand in a line that is given as blanks and words in turn."""
    ends = list(accumulate(map(len, parts)))
    return list(zip(ends[::2], ends[1::2], strict=False))


def _fields(parts: Sequence[Words], spans: Sequence[list[Span]], varying: list[int]) -> list[tuple[int, int, str]]:
    """Slices of the first line that vary, each with its format field; none if the lines are spaced in another way."""
    gaps = list(zip(*(row[::2] for row in parts), strict=True))
    uneven = {at for at, gap in enumerate(gaps) if len(set(gap)) > 1}
    fields = []
    for at in varying:
        sizes = [row[at][1] - row[at][0] for row in spans]
        start, end = spans[0][at]
        if at in uneven and _is_aligned(sizes, gaps[at]):
            uneven.remove(at)
            start -= len(gaps[at][0]) - (at > 0)
            fields.append((start, end, f"{{:>{end - start}}}"))
        elif at + 1 in uneven and at + 2 < len(gaps) and _is_aligned(sizes, gaps[at + 1]):
            uneven.remove(at + 1)
            end += len(gaps[at + 1][0]) - 1
            fields.append((start, end, f"{{:<{end - start}}}"))
        else:
            fields.append((start, end, "{}"))
    return [] if uneven else fields


def _is_aligned(sizes: Sequence[int], gap: Sequence[str]) -> bool:
    """Words and the blanks beside them are equally wide together."""
    return len(set(map(add, sizes, map(len, gap)))) == 1 and not "".join(gap).strip(" ")


def bound(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Each form with its values."""
    return headed(lines, _HEAD, _CLOSE)


def verify(text: str, result: str, note: str) -> bool:
    """Fill each form with the values of its lines, and compare."""
    lines = iter(result.split("\n"))
    out: list[str] = []
    for line in lines:
        head = _HEAD.fullmatch(line)
        out += [head[2].format(*next(lines).split(" ")) for _ in range(int(head[1]))] if head else [line]
    return "\n".join(out) == text
