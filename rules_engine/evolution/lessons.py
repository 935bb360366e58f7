"""What an archive teaches: rules mined and weights learned from it, each admitted, and held against parts it is not from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import groupby

from rules_engine.evolution import scoring
from rules_engine.evolution.admission import NAMED, Bar, Trial, Verdict
from rules_engine.evolution.mining import LARGEST, Statistics
from rules_engine.types import Rule, Sample

PARTS = 3
"""The sessions are cut into so many parts: rules learned from all but one part are tried on that one."""
BARS: Mapping[str, Bar] = {"line_score": Bar(lost=0.002, gain=0.005)}
"""For kinds that weigh evidence: they are after lines of all families, and may lose two used strings in a thousand."""

Read = Callable[[], Iterable[Sample]]
"""Reads the archive, session by session; it is read twice, so that it need not fit into memory."""


@dataclass(slots=True)
class Lessons:
    """Counts over some sessions, from which rules are made; the counts of several archives can be merged."""

    shapes: Statistics = field(default_factory=Statistics)
    scores: scoring.Trials = field(default_factory=scoring.Trials)

    def add(self, samples: Sequence[Sample]) -> None:
        """Count one session."""
        for sample in samples:
            self.shapes.add(sample)
        self.scores.merge(scoring.count([sample for sample in samples if len(sample.observation.text) <= LARGEST]))

    def merge(self, other: Lessons) -> None:
        """Take in the counts of other sessions."""
        self.shapes.merge(other.shapes)
        self.scores.merge(other.scores)

    def rules(self) -> tuple[Rule, ...]:
        """The rules that the counts suggest, not yet admitted."""
        score = (scoring.rule_of(self.scores),) if self.scores.outputs else ()
        return (*self.shapes.rules(), *score)


def learn(read: Read) -> tuple[Verdict, ...]:
    """A verdict on every rule that `read`'s samples suggest."""
    parts = [Lessons() for _ in range(PARTS)]
    for session in _sessions(read()):
        parts[part_of(session[0].session)].add(session)
    trials = _trials(parts)
    checks = [_trials([part for place, part in enumerate(parts) if place != at]) for at in range(PARTS)]
    for sample in read() if trials else ():
        for trial in (*trials.values(), *checks[part_of(sample.session)].values()):
            trial.add(sample)
    for check in checks:
        for trial in check.values():
            trial.verdict()
    return tuple(_checked(trial.verdict(), checks) for trial in trials.values())


def part_of(session: str) -> int:
    """The part that a session belongs to."""
    return blake2b(session.encode("utf-8", "surrogatepass"), digest_size=4).digest()[0] % PARTS


def _sessions(samples: Iterable[Sample]) -> Iterator[list[Sample]]:
    for _, session in groupby(samples, key=lambda sample: (sample.source, sample.session)):
        yield list(session)


def _trials(parts: Sequence[Lessons]) -> dict[str, Trial]:
    whole = Lessons()
    for part in parts:
        whole.merge(part)
    return {rule.id: Trial(rule, BARS.get(rule.kind)) for rule in whole.rules()}


def _checked(verdict: Verdict, checks: Sequence[Mapping[str, Trial]]) -> Verdict:
    """Refused if what the other parts teach works in too few that they have not seen, or loses too much there."""
    found = (check.get(verdict.rule.id) for check in checks)
    again = [trial for trial in found if trial is not None and trial.has_acted]
    lost = sorted({string for trial in again for string in trial.lost})
    figures = dict(verdict.figures) | {"parts": len(again), "lost_elsewhere": len(lost)}
    reason = ""
    if len(again) < PARTS - 1:
        reason = f"learned without them, it works in only {len(again)} of {PARTS} parts of the archive"
    elif any(trial.loses_too_much for trial in again):
        reason = f"in sessions that it was not learned from it loses {', '.join(lost[:NAMED])}"
    if not verdict.admitted:
        return replace(verdict, figures=figures)
    rule = replace(verdict.rule, evidence=dict(verdict.rule.evidence) | {"trial": figures})
    return replace(verdict, admitted=not reason, reason=reason or verdict.reason, rule=rule, figures=figures)
