"""TACO's line filter: keep the head, the tail and what `keep_patterns` match; strip what `strip_patterns` match; cap the rest.

Lines are kept by default. Unlike in TACO's released code a kept line is exempt from the cap, and every pattern must be valid.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import re2

from rules_engine.scan import compile_given, encode, find_lines
from rules_engine.types import RuleError

VERSION = 1

FIELDS = ("keep_patterns", "strip_patterns", "keep_first_n", "keep_last_n", "max_lines", "summary_header")
"""Names of the params, which are TACO's."""

_SLACK = 5
"""Lines beyond head and tail from which on the filter acts."""
_MOST_LINES = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """A rule's params, checked and compiled."""

    keep: re2._Regexp[str] | None
    strip: re2._Regexp[str] | None
    first: int
    last: int
    cap: int | None


def parse(raw: Mapping[str, object]) -> Params:
    """Check and compile `raw`. Raises `RuleError` with the field that is wrong and what to do."""
    for name in raw:
        if name not in FIELDS:
            raise RuleError(f"{name}: unknown; a line filter has {', '.join(FIELDS)}")
    # The header is TACO's own disclosure line; a mark of ours stands in its place, so it is only carried along.
    if not isinstance(raw.get("summary_header"), str | None):
        raise RuleError("summary_header: must be text or null")
    cap = raw.get("max_lines")
    return Params(
        keep=compile_given(_texts(raw, "keep_patterns"), "keep_patterns"),
        strip=compile_given(_texts(raw, "strip_patterns"), "strip_patterns"),
        first=_count(raw.get("keep_first_n", 5), "keep_first_n"),
        last=_count(raw.get("keep_last_n", 10), "keep_last_n"),
        cap=None if cap is None else _count(cap, "max_lines"),
    )


def drop(lines: tuple[str, ...], params: Params, protected: frozenset[int]) -> tuple[int, ...]:
    """Positions of the lines to leave out, ascending; never one that is protected."""
    body = range(params.first, len(lines) - params.last)
    if len(body) <= _SLACK:
        return ()
    data = encode(lines)
    stripped = frozenset(find_lines(params.strip, data)) - protected
    if not stripped and params.cap is None:
        return ()
    exempt = protected.union(find_lines(params.keep, data))
    stripped -= exempt
    left = [at for at in body if at not in stripped]
    capped = frozenset(() if params.cap is None else left[params.cap :]) - exempt
    return tuple(at for at in body if at in stripped or at in capped)


def _texts(raw: Mapping[str, object], field: str) -> list[str]:
    value = raw.get(field, ())
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise RuleError(f"{field}: must be a list of patterns")
    return [str(item) for item in value]


def _count(value: object, field: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MOST_LINES:
        raise RuleError(f"{field}: must be a whole number from 0 to {_MOST_LINES}")
    return value
