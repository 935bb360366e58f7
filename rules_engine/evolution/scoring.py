"""Learns how lines are scored: logistic weights from what agents went on to use, the same for the same samples.

sample ─features of its lines→ trials (features → outputs, of them used) ─Newton's method→ weights and their doubt → rule
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TypeVar

from rules_engine import features
from rules_engine.critical import is_failing, protected
from rules_engine.engine import tidy
from rules_engine.evolution import use
from rules_engine.natures import nature
from rules_engine.types import Rule, Sample, Settings, Trigger

RIDGE = 0.25
"""Strength of the prior belief that a feature says nothing; with few samples it prevails."""
PER_SESSION = 20
"""Most outputs of one session that count for lines with the same features."""
_STEPS = 30
_SMALL = 1e-6

Key = tuple[int, ...]
T = TypeVar("T")


@dataclass(slots=True)
class Trials:
    """Outputs that showed lines with the same features, and how many of them had such a line used."""

    outputs: Counter[Key] = field(default_factory=Counter)
    used: Counter[Key] = field(default_factory=Counter)
    by_feature: Counter[int] = field(default_factory=Counter)
    used_by_feature: Counter[int] = field(default_factory=Counter)
    sessions: set[str] = field(default_factory=set)
    sources: set[str] = field(default_factory=set)
    failing: int = 0

    def add(self, sample: Sample, taken: frozenset[str]) -> None:
        """Count one output, of which the strings `taken` were used."""
        lines = tidy(sample.observation, Settings()).text.split("\n")
        stays = protected(lines, sample.observation.command)
        shown = features.read(lines)
        told = use.words("\n".join(lines[at] for at in stays))
        used = use.used_lines(lines, taken - told)
        places = [at for at in range(len(lines)) if at not in stays and not features.ROUTINE.isdisjoint(shown[at])]
        if not places:
            return
        self._count(shown, places, used)
        self.sessions.add(sample.session)
        self.sources.add(sample.source)
        self.failing += is_failing(sample.observation, lines)

    def merge(self, other: Trials) -> None:
        """Take in the trials of other sessions."""
        self.outputs.update(other.outputs)
        self.used.update(other.used)
        self.by_feature.update(other.by_feature)
        self.used_by_feature.update(other.used_by_feature)
        self.sessions |= other.sessions
        self.sources |= other.sources
        self.failing += other.failing

    def limit(self, most: int) -> None:
        """Cut every count at `most`: a session that repeats an output is one witness, not many."""
        self.outputs, self.used = _capped(self.outputs, most), _capped(self.used, most)
        self.by_feature, self.used_by_feature = _capped(self.by_feature, most), _capped(self.used_by_feature, most)

    def _count(self, shown: Sequence[Key], places: Sequence[int], used: frozenset[int]) -> None:
        taken = [at for at in places if at in used]
        self.outputs.update({shown[at] for at in places})
        self.used.update({shown[at] for at in taken})
        self.by_feature.update({name for at in places for name in shown[at]})
        self.used_by_feature.update({name for at in taken for name in shown[at]})


def learn(samples: Iterable[Sample]) -> Rule:
    """A rule that leaves out lines of routine output which, by the upper bound, agents do not go on to use."""
    return rule_of(count(samples))


def rule_of(trials: Trials) -> Rule:
    """The rule that these trials teach."""
    keys = sorted(trials.outputs)
    weights, covariances = fit([(key, trials.outputs[key], trials.used[key]) for key in keys])
    known = [(features.NAMES[at], at) for at in sorted(trials.by_feature)]
    return Rule(
        id="line_score",
        kind="line_score",
        trigger=Trigger(pattern="."),
        params={
            "weights": {name: round(weights[at], 3) for name, at in known},
            "covariances": {
                name: {other: round(covariances[at][column], 4) for other, column in known if column <= at}
                for name, at in known
            },
        },
        description="Leaves out lines of routine output (items that passed, steps, files with their sizes) that agents do not use.",
        priority=60,
        provenance="learned",
        on_failing=trials.failing > 0,
        evidence=_evidence(trials),
    )


def count(samples: Iterable[Sample]) -> Trials:
    """The trials of some samples, those of a session one after the other.

    Only terminal output counts, and only what was used of one result of its session: other strings could have been had
    from elsewhere.
    """
    trials = Trials()
    for _, session in groupby(samples, key=lambda sample: (sample.source, sample.session)):
        results, own = list(session), Trials()
        holders = Counter(string for sample in results for string in sample.used)
        for sample in results:
            if nature(sample.observation) == "terminal":
                once = frozenset(string for string in sample.used if holders[string] == 1)
                own.add(sample, once - sample.known)
        own.limit(PER_SESSION)
        trials.merge(own)
    return trials


def fit(trials: Sequence[tuple[Key, int, int]]) -> tuple[list[float], list[list[float]]]:
    """Weights by feature, in log odds, and their covariances: what (features, outputs, used outputs) tell (Laplace)."""
    size = len(features.NAMES)
    weights = [0.0] * size
    root = _root(_curvature(trials, weights))
    for _ in range(_STEPS):
        change = _solve(root, _slope(trials, weights))
        largest = max(map(abs, change))
        scale = min(1.0, 2.0 / largest) if largest else 1.0
        weights = [weight + scale * step for weight, step in zip(weights, change, strict=True)]
        root = _root(_curvature(trials, weights))
        if largest < _SMALL:
            break
    return weights, [_solve(root, [1.0 if at == place else 0.0 for at in range(size)]) for place in range(size)]


def _capped(counts: Counter[T], most: int) -> Counter[T]:
    return Counter({key: min(count, most) for key, count in counts.items()})


def _evidence(trials: Trials) -> dict[str, object]:
    """How many outputs showed each routine feature, and in how many such a line was used."""
    names = sorted(features.ROUTINE.intersection(trials.by_feature))
    return {
        "sessions": len(trials.sessions),
        "sources": len(trials.sources),
        "failing_outputs": trials.failing,
        "outputs": {features.NAMES[at]: trials.by_feature[at] for at in names},
        "used": {features.NAMES[at]: trials.used_by_feature[at] for at in names},
    }


def _odds(key: Key, weights: Sequence[float]) -> float:
    score = math.fsum(weights[at] for at in key)
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))


def _slope(trials: Sequence[tuple[Key, int, int]], weights: Sequence[float]) -> list[float]:
    slope = [-RIDGE * weight for weight in weights]
    for key, outputs, used in trials:
        rest = used - outputs * _odds(key, weights)
        for at in key:
            slope[at] += rest
    return slope


def _curvature(trials: Sequence[tuple[Key, int, int]], weights: Sequence[float]) -> list[list[float]]:
    size = len(weights)
    matrix = [[RIDGE if row == column else 0.0 for column in range(size)] for row in range(size)]
    for key, outputs, _ in trials:
        odds = _odds(key, weights)
        share = outputs * odds * (1 - odds)
        for at in key:
            row = matrix[at]
            for other in key:
                row[other] += share
    return matrix


def _root(matrix: Sequence[Sequence[float]]) -> list[list[float]]:
    """The lower triangle whose square `matrix` is (Cholesky)."""
    root: list[list[float]] = []
    for at, line in enumerate(matrix):
        row: list[float] = []
        for column in range(at):
            rest = line[column] - sum(a * b for a, b in zip(row, root[column], strict=False))
            row.append(rest / root[column][column])
        row.append(math.sqrt(line[at] - sum(value * value for value in row)))
        root.append(row)
    return root


def _solve(root: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    size = len(right)
    middle: list[float] = []
    for at in range(size):
        middle.append((right[at] - sum(a * b for a, b in zip(root[at], middle, strict=False))) / root[at][at])
    out = [0.0] * size
    for at in reversed(range(size)):
        rest = sum(root[below][at] * out[below] for below in range(at + 1, size))
        out[at] = (middle[at] - rest) / root[at][at]
    return out
