"""Escape codes, and frames of a progress display that later frames cover: what a terminal would not show."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rules_engine import screen
from rules_engine.kinds import Encoded
from rules_engine.natures import nature
from rules_engine.types import Observation

VERSION = 1

Span = tuple[int, int]

# Colours and other styles, modes, questions, titles, prompt marks, character sets: none shows or moves anything.
_STYLE = re.compile(
    r"\x1b(?:\[[\d;:]*m|\[\?[\d;]*[hl]|\[[56]n|\[\d* q|[=>]|\([AB]|\](?:[012]|133|633);[^\x07\x1b\n]*(?:\x07|\x1b\\))"
)
_ERASE = re.compile(r"\x1b\[0?K")
_MOVE = re.compile(r"\x08|\r(?!\n)|\x1b\[0?K")
"""What makes a line other than its characters in a row, whatever their style."""
_STATES = (
    *("error", "fail", "fatal", "warn", "exception", "traceback", "panic", "denied", "refused", "abort", "not found"),
    *("timeout", "time out", "timedout", "timed out", "invalid", "unable", "cannot", "passed", "success"),
)
_ODD = re.compile(r"[\x00-\x1f\x7f]")
_WIDE = re.compile(r"[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\uffe6\U0001f000-\U0003ffff]")
_THIN = re.compile(r"[\u0300-\u036f\u200b-\u200f\ufe00-\ufe0f]")
_WORD = re.compile(r"[^\W\d_]{3}")
_FRAME = re.compile(r"[^\r]*\r|[^\r]+$")
_ANYTHING = 1 << 60
_LONGEST = 10_000
"""Characters of a line with backspaces; a longer one is no line that anybody typed."""


def encode(text: str, observation: Observation) -> Encoded | None:
    """Delete style codes, and frames that the rest of their line covers, unless they state how something went."""
    if "\x1b" not in text and "\b" not in text and text.count("\r") == text.count("\r\n"):
        return None
    if nature(observation) in ("read", "diff"):
        return None
    spans = tuple(_hidden_spans(text))
    return Encoded(edits=tuple((start, end, ()) for start, end in spans)) if spans else None


def _hidden_spans(text: str) -> Iterator[Span]:
    end = 0
    while move := _MOVE.search(text, end):
        start = text.rfind("\n", end, move.start()) + 1 or end
        yield from _styles(text, end, start)
        end = text.find("\n", move.start())
        end = len(text) if end < 0 else end
        for low, high in _hidden(text[start:end].rstrip("\r")):
            yield start + low, start + high
    yield from _styles(text, end, len(text))


def _styles(text: str, start: int, end: int) -> Iterator[Span]:
    return (match.span() for match in _STYLE.finditer(text, start, end))


def _hidden(line: str) -> list[Span]:
    """What goes of a line in which the cursor moves."""
    if "\b" in line:
        return _taken_back(line)
    styles = list(_styles(line, 0, len(line)))
    if "\r" not in line and not _ERASE.search(line):
        return styles
    if "\x1b" in _ERASE.sub("", _STYLE.sub("", line)):
        # timid: the cursor moves in a way that takes a whole screen to follow.
        return styles
    return _merge(styles, _covered_frames(line))


class _Frame(NamedTuple):
    """A part of a line that ends with a carriage return, or with the line."""

    start: int
    end: int
    shown: str
    """Without codes."""
    erases: bool
    word: str
    """The first one, in lower case."""

    @classmethod
    def read(cls, line: str, start: int, end: int) -> _Frame:
        plain = line[start:end].rstrip("\r")
        plain = _STYLE.sub("", plain) if "\x1b" in plain else plain
        shown = _ERASE.sub("", plain) if "\x1b" in plain else plain
        word = _WORD.search(shown)
        return cls(start, end, shown, shown != plain, word[0].lower() if word else "")


def _covered_frames(line: str) -> list[Span]:
    """Frames with the carriage return after them, and erase codes that are left with nothing to erase."""
    frames = [_Frame.read(line, *match.span()) for match in _FRAME.finditer(line)]
    while frames and not frames[-1].shown and not frames[-1].erases:
        frames.pop()
    together = " ".join([frame.shown for frame in frames])
    plain = _is_plain(together) and not _WIDE.search(together)
    left = _standing(frames, plain, behind=False)
    if len(left) > 1:
        left = _standing(frames, plain, behind=True)
        alone = _standing(left, plain, behind=False)
        left = alone if len(alone) == 1 else left
    erasing = [match.span() for match in _ERASE.finditer(line, left[0].start)] if len(left) == 1 else []
    stay = {frame.start for frame in left}
    return sorted([*((frame.start, frame.end) for frame in frames if frame.start not in stay), *erasing])


def _standing(frames: Sequence[_Frame], plain: bool, behind: bool) -> list[_Frame]:
    """The frames that stay; `behind`: an earlier one may show behind the later ones, so that their blanks count, too."""
    left: list[_Frame] = []
    cover, erased = 0, False
    for frame in reversed(frames):
        used = frame.shown if behind else frame.shown.rstrip(" ")
        if left and _may_go(frame, used, left[-1], cover, plain) and (erased or not frame.erases):
            continue
        left.append(frame)
        erased = frame.erases
        cover = _ANYTHING if erased else max(cover, _cells(frame.shown))
    return left[::-1]


def _may_go(frame: _Frame, used: str, follower: _Frame, cover: int, plain: bool) -> bool:
    wide = 0 if plain else len(_WIDE.findall(used))
    if len(used) + wide > cover or not (plain or _is_plain(used)):
        return False
    # Only frames of one display: a file with old line ends is full of carriage returns, too.
    return not frame.word or not follower.word or frame.word == follower.word


def _is_plain(shown: str) -> bool:
    """It holds no control character, and does not say how something went."""
    return not _ODD.search(shown) and not _states(shown)


def _states(shown: str) -> bool:
    """It says how something went."""
    low = shown.lower()
    return any(word in low for word in _STATES)


def _cells(shown: str) -> int:
    """How much of the line it covers, at least."""
    return 0 if _ODD.search(shown) else len(shown) - len(_THIN.findall(shown))


def _taken_back(line: str) -> list[Span]:
    """Backspaces, and the characters that were written over after them."""
    if len(line) > _LONGEST or not line.isascii() or _ODD.search(line.replace("\b", "")):
        return []
    cells: list[int] = []
    column = 0
    for at, character in enumerate(line):
        if character == "\b":
            column = max(column - 1, 0)
        else:
            cells[column : column + 1] = [at]
            column += 1
    gone = sorted({*range(len(line))}.difference(cells))
    # timid: where the rest of an older text shows behind a newer one, both stay.
    if cells != sorted(cells) or _states("".join(line[at] for at in gone)):
        return []
    return [(at, at + 1) for at in gone]


def _merge(styles: list[Span], covered: list[Span]) -> list[Span]:
    """Both in order, styles inside what is covered left out."""
    out: list[Span] = []
    for span in sorted([*styles, *covered], key=lambda span: (span[0], -span[1])):
        if not out or span[0] >= out[-1][1]:
            out.append(span)
    return out


def verify(text: str, result: str, note: str) -> bool:
    """Show both on a line of cells and compare."""
    before, after = text.split("\n"), result.split("\n")
    if len(before) != len(after):
        return False
    changed = [at for at, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1]]
    return screen.are_alike([before[at] for at in changed], [after[at] for at in changed])
