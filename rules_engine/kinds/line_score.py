"""Lines of routine output that nobody went on to use: a score from what a line shows, learned from use.

Each feature of a line adds its weight, in log odds of being used. A line goes only if even the upper bound of the odds,
the weights plus so many times the doubt about their sum, is under the limit.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import re2

from rules_engine import features
from rules_engine.likeness import outstanding
from rules_engine.types import RuleError

VERSION = 1

FIELDS = ("weights", "covariances", "times_doubt", "limit", "keep_first_n", "keep_last_n", "fewest")
"""Names of the params."""

UNKNOWN = 4.0
"""Variance of the weight of a feature that no sample had: its odds may be anything."""
_MOST_LINES = 1_000_000
_NAMED = 4
_ALIKE = 8
"""Lines of one build from which on one of them may stand out."""
_TRACED = frozenset({features.NAMES.index("traced")})
_SPACER = re2.compile(r"^(?:[^\s:]+(?: \w+)?: )?[ \t]*(?:[^\s:]*[/.][^\s:]*:)?[ \t]*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """A rule's params, checked; weights in the order of `features.NAMES`, and so are rows and columns of the covariances."""

    weights: tuple[float, ...]
    covariances: tuple[tuple[float, ...], ...]
    times: float
    limit: float
    """The largest upper bound, in log odds, with which a line may go."""
    first: int
    last: int
    fewest: int

    def bound(self, shown: Sequence[int]) -> float:
        """Upper bound of the log odds that a line with these features is used."""
        variance = 0.0
        for at in shown:
            row = self.covariances[at]
            variance += sum([row[other] for other in shown])
        return sum([self.weights[at] for at in shown]) + self.times * math.sqrt(max(variance, 0.0))


def parse(raw: Mapping[str, object]) -> Params:
    """Check `raw`. Raises `RuleError` with the field that is wrong and what to do."""
    for name in raw:
        if name not in FIELDS:
            raise RuleError(f"{name}: unknown; a line score has {', '.join(FIELDS)}")
    limit = _number(raw.get("limit", 0.2), "limit", 0.0001, 0.9999)
    weights = _by_feature(raw.get("weights", {}), "weights")
    return Params(
        weights=tuple(weights.get(name, 0.0) for name in features.NAMES),
        covariances=_covariances(raw.get("covariances", {})),
        times=_number(raw.get("times_doubt", 1.64), "times_doubt", 0.0, 10.0),
        limit=math.log(limit / (1 - limit)),
        first=_count(raw.get("keep_first_n", 1), "keep_first_n"),
        last=_count(raw.get("keep_last_n", 2), "keep_last_n"),
        fewest=_count(raw.get("fewest", 4), "fewest"),
    )


def drop(lines: tuple[str, ...], params: Params, protected: frozenset[int]) -> tuple[int, ...]:
    """Positions of the lines to leave out, ascending; never one that is protected."""
    if len(lines) < params.first + params.last + params.fewest:
        return ()
    marks = features.marked(lines)
    often = _often(marks, params.fewest)
    if not often:
        return ()
    shown = features.placed(lines, marks)
    goes = {key: _is_routine(key, often) and params.bound(key) <= params.limit for key in set(shown)}
    body = range(params.first, len(lines) - params.last)
    out = {at for at in body if goes[shown[at]] and at not in protected}
    out -= outstanding(lines, sorted(out), _ALIKE)
    return tuple(sorted(out.union(_between(lines, out, protected))))


def explain(lines: Sequence[str], out: Sequence[int], params: Params) -> str:
    """Why the lines at `out` go: what they show, and the share of outputs in which such lines are used, at most."""
    shown = features.read(lines)
    looks = Counter(shown[at] for at in out if lines[at].strip()).most_common(_NAMED)
    return "; ".join(
        f"{count} that show {', '.join(features.NAMES[at] for at in look) or 'nothing'}: used at most {_share(params.bound(look)):.1%}"
        for look, count in looks
    )


def _share(odds: float) -> float:
    return 1 / (1 + math.exp(-odds))


def _often(shown: Sequence[Sequence[int]], fewest: int) -> frozenset[int]:
    """Routine features that enough lines have: a single one may be what the command was for."""
    counts = Counter(chain.from_iterable(shown))
    return frozenset(at for at in features.ROUTINE if counts[at] >= fewest)


def _is_routine(shown: Sequence[int], often: frozenset[int]) -> bool:
    """A line shows something that comes by itself; a trace that is like no others is news."""
    routine = often.intersection(shown)
    return bool(routine) and (routine != _TRACED or features.ALIKE in shown)


def _between(lines: Sequence[str], out: set[int], protected: frozenset[int]) -> set[int]:
    """Blank lines and headings with nothing left around them."""
    found: set[int] = set()
    for at in out:
        end = at + 1
        while end < len(lines) and end not in out and end not in protected and _SPACER.search(lines[end]):
            end += 1
        if end in out:
            found.update(range(at + 1, end))
    return found


def _by_feature(value: object, field: str) -> dict[str, float]:
    if not isinstance(value, Mapping):
        raise RuleError(f"{field}: must be an object of numbers by feature")
    for name in value:
        if name not in features.NAMES:
            raise RuleError(f"{field}.{name}: unknown; features are {', '.join(features.NAMES)}")
    return {str(name): _number(number, f"{field}.{name}", -100.0, 100.0) for name, number in value.items()}


def _covariances(value: object) -> tuple[tuple[float, ...], ...]:
    """Of each pair of features; of one that no sample had only its own variance."""
    if not isinstance(value, Mapping):
        raise RuleError("covariances: must be an object of objects by feature")
    matrix = [[UNKNOWN if row == column else 0.0 for column in features.NAMES] for row in features.NAMES]
    place = {name: at for at, name in enumerate(features.NAMES)}
    for name, row in value.items():
        for other, number in _by_feature(row, f"covariances.{name}").items():
            if name not in place:
                raise RuleError(f"covariances.{name}: unknown; features are {', '.join(features.NAMES)}")
            matrix[place[name]][place[other]] = matrix[place[other]][place[name]] = number
    return tuple(map(tuple, matrix))


def _number(value: object, field: str, least: float, most: float) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not least <= value <= most:
        raise RuleError(f"{field}: must be a number from {least:g} to {most:g}")
    return float(value)


def _count(value: object, field: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MOST_LINES:
        raise RuleError(f"{field}: must be a whole number from 0 to {_MOST_LINES}")
    return value
