"""Lines of one form after each other and among each other: the first ones, the last one and what stands out of them stay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import re2

from rules_engine.critical import failures
from rules_engine.likeness import groups, ordinary
from rules_engine.scan import compile_given, encode, find_lines
from rules_engine.types import RuleError

VERSION = 1

FIELDS = ("only_patterns", "fewest", "keep_first_n", "keep_last_n")
"""Names of the params."""
_MOST_LINES = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """A rule's params, checked and compiled."""

    only: re2._Regexp[str] | None
    """What a line shows that may go; any line if there is no such pattern."""
    fewest: int
    """Lines of one form from which on most of them may go."""
    first: int
    last: int


def parse(raw: Mapping[str, object]) -> Params:
    """Check and compile `raw`. Raises `RuleError` with the field that is wrong and what to do."""
    for name in raw:
        if name not in FIELDS:
            raise RuleError(f"{name}: unknown; a rule for lines that are alike has {', '.join(FIELDS)}")
    only = raw.get("only_patterns", ())
    if not isinstance(only, list | tuple) or not all(isinstance(item, str) for item in only):
        raise RuleError("only_patterns: must be a list of patterns")
    return Params(
        only=compile_given([str(item) for item in only], "only_patterns"),
        fewest=max(_count(raw.get("fewest", 8), "fewest"), 4),
        first=_count(raw.get("keep_first_n", 3), "keep_first_n"),
        last=_count(raw.get("keep_last_n", 5), "keep_last_n"),
    )


def drop(lines: tuple[str, ...], params: Params, protected: frozenset[int]) -> tuple[int, ...]:
    """Positions of the lines to leave out, ascending; never one that is protected."""
    if len(lines) < params.first + params.last + params.fewest:
        return ()
    body = range(params.first, len(lines) - params.last)
    places = body if params.only is None else [at for at in find_lines(params.only, encode(lines)) if at in body]
    found = groups(lines, places, params.fewest)
    out = sorted({at for group in found for at in ordinary(lines, group)} - protected)
    # A failure is told each time.
    stated = failures([lines[at] for at in out]) if out else frozenset()
    return tuple(at for place, at in enumerate(out) if place not in stated)


def _count(value: object, field: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MOST_LINES:
        raise RuleError(f"{field}: must be a whole number from 0 to {_MOST_LINES}")
    return value
