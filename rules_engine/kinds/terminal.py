"""Escape codes, and frames of a progress display that later frames cover: what a terminal would not show."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rules_engine import screen
from rules_engine.kinds import Encoded
from rules_engine.natures import nature
from rules_engine.types import Observation

VERSION = 1

Span = tuple[int, int]

_CONTROL = re.compile(r"[\x1b\x08]|\r(?!\n)")
# Colours and other styles, modes, questions, titles, prompt marks, character sets: none shows or moves anything.
_STYLE = re.compile(
    r"\x1b(?:\[[\d;:]*m|\[\?[\d;]*[hl]|\[[56]n|\[\d* q|[=>]|\([AB]|\](?:[012]|133|633);[^\x07\x1b\n]*(?:\x07|\x1b\\))"
)
_ERASE = re.compile(r"\x1b\[0?K")
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
    while match := _CONTROL.search(text, end):
        start = text.rfind("\n", end, match.start()) + 1 or end
        end = text.find("\n", match.start())
        end = len(text) if end < 0 else end
        for low, high in _hidden(text[start:end].rstrip("\r")):
            yield start + low, start + high


def _hidden(line: str) -> list[Span]:
    if "\b" in line:
        return _taken_back(line)
    styles = [match.span() for match in _STYLE.finditer(line)]
    if "\r" not in line and not _ERASE.search(line):
        return styles
    if "\x1b" in _ERASE.sub("", _STYLE.sub("", line)):
        # timid: the cursor moves in a way that takes a whole screen to follow.
        return styles
    return _merge(styles, _covered_frames(line))


def _covered_frames(line: str) -> list[Span]:
    """Frames with the carriage return after them, and erase codes that are left with nothing to erase."""
    frames = [match.span() for match in _FRAME.finditer(line)]
    while frames and not _STYLE.sub("", line[slice(*frames[-1])]).rstrip("\r"):
        frames.pop()
    left = _standing(line, frames, behind=False)
    if len(left) > 1:
        left = _standing(line, frames, behind=True)
        alone = _standing(line, left, behind=False)
        left = alone if len(alone) == 1 else left
    erasing = [match.span() for match in _ERASE.finditer(line, left[0][0])] if len(left) == 1 else []
    return sorted([*set(frames).difference(left), *erasing])


def _standing(line: str, frames: Sequence[Span], behind: bool) -> list[Span]:
    """The frames that stay; `behind`: an earlier one may show behind the later ones, so that their blanks count, too."""
    left: list[Span] = []
    cover, erased, follower = 0, False, ""
    for start, end in reversed(frames):
        plain = line[start:end].rstrip("\r")
        plain = _STYLE.sub("", plain) if "\x1b" in plain else plain
        shown = _ERASE.sub("", plain) if "\x1b" in plain else plain
        erases = shown != plain
        used = shown if behind else shown.rstrip(" ")
        if left and _may_go(used, follower, cover) and (erased or not erases):
            continue
        left.append((start, end))
        erased = erases
        cover = _ANYTHING if erases else max(cover, _cells(shown))
        follower = shown
    return left[::-1]


def _may_go(shown: str, follower: str, cover: int) -> bool:
    if len(shown) + len(_WIDE.findall(shown)) > cover or _ODD.search(shown) or _states(shown):
        return False
    # Only frames of one display: a file with old line ends is full of carriage returns, too.
    word, next_word = _WORD.search(shown), _WORD.search(follower)
    return not word or not next_word or word[0].lower() == next_word[0].lower()


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
    return len(before) == len(after) and all(
        old == new or screen.show(old) == screen.show(new) for old, new in zip(before, after, strict=True)
    )
