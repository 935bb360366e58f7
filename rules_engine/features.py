"""What a line shows at a glance: marks of routine output, names and figures in it, and how many of its like stand here.

A feature is there or not. The patterns run as one RE2 set, so that a line is looked at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import re2

from rules_engine.scan import encode

_JOB = r"^(?:[^\s:]+(?: \w+)?: )?[ \t]*"

PATTERNS: Mapping[str, str] = {
    "passing": rf"{_JOB}(?:\((?:pass|skip)\) |[✓✔√] |--- (?:PASS|SKIP)|=== (?:RUN|PAUSE|CONT)|\[ *(?:OK|RUN) *\])"
    r"|^test \S+ \.\.\. (?:ok|ignored)$|\bPASSED\b",
    "step": rf"(?i){_JOB}[#\d.>-]*[ \t]*(?:get:\d+|compiling|checking|downloading|downloaded|collecting|installing|unpacking|preparing"
    r"|selecting|setting up|extracting|fetching|processing|copying|building|transforming|resolving|requirement already"
    r"|using cached|pulling|waiting|linking|generating|creating)\b",
    "sized": r"(?:^|[\s(])\d[\d.,]*[ \t]?(?:[kKMG]i?)?B(?:$|[^\w/])",
    "made": r"[/.]\S* +[\[(]?\+?\d[\d.,]* ?(?:ms|s|µs)[\])]?[ \t]*(?:\(\d+/\d+\))?[ \t]*$",
    "progress": r"^[ \t]*\[? *\d+(?:\.\d+)? ?%|\d ?%[ \t]*[|\[(█▌━#=]",
    "traced": r"\b(?:DEBUG|TRACE|VERBOSE)\b",
    "percent": r"\d ?%",
    "listed": r"^[-dlbcps][rwxst-]{9}",
    "stamped": r"^\[?\S*\d\d:\d\d:\d\d",
    "link": r"https?://",
    "bulleted": r"^\s*[-*•├└│+]",
    "path": r"\w/\w",
    "file": r"\w\.[A-Za-z]\w{0,4}\b",
    "hashed": r"-[A-Z0-9][A-Za-z0-9_-]{7}\.|\b[0-9a-f]{7,}\b",
    "named": r"[a-z][A-Z]|\w_\w",
    "numbered": r"\d{3}",
    "prose": r"(?:\b[a-z]+,? ){4}",
}
"""Features that a line has by itself."""

NAMES = (*PATTERNS, "alike", "beside", "long")
"""All features: those of the line, then those of its place among the others."""

ROUTINE = frozenset(range(6))
"""Those of output that comes by itself: an item that passed, a step, a file with its size or duration, progress, a trace."""

ALIKE, _BESIDE, _LONG = range(len(PATTERNS), len(NAMES))
_SHAPELESS = str.maketrans("", "", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./ \t")


def _compiled() -> re2.Set:
    patterns = re2.Set.SearchSet()
    for pattern in PATTERNS.values():
        patterns.Add(pattern)
    patterns.Compile()
    return patterns


_SET = _compiled()


def read(lines: Sequence[str]) -> list[tuple[int, ...]]:
    """The features of each line, as positions in `NAMES`; ascending."""
    return placed(lines, marked(lines))


def marked(lines: Sequence[str]) -> list[tuple[int, ...]]:
    """Those that each line has by itself; enough to see that nothing in an output is routine."""
    match = _SET.Match
    return [tuple(sorted(match(text) or ())) for text in encode(lines).split(b"\n")] if lines else []


def placed(lines: Sequence[str], marks: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Those, and those of its place among the others."""
    return [mark + place for mark, place in zip(marks, _places(lines), strict=True)] if lines else []


def _places(lines: Sequence[str]) -> list[tuple[int, ...]]:
    """What a line has in common with the others: the punctuation, as a measure of its shape, and the length of the output."""
    shapes = "\n".join(lines).translate(_SHAPELESS).split("\n")
    counts = Counter(shapes)
    whole = (_LONG,) if len(lines) >= 60 else ()
    alone, alike, beside = whole, (ALIKE, *whole), (ALIKE, _BESIDE, *whole)
    often = {shape for shape, count in counts.items() if count >= 8}
    around = zip(["", *shapes], shapes, [*shapes[1:], ""], strict=False)
    return [(beside if last == shape == then else alike) if shape in often else alone for last, shape, then in around]
