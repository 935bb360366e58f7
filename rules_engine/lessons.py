"""What an archive teaches: rules mined from it, each admitted, and found again in parts of it without its own loss."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b

from rules_engine.admission import NAMED, Trial, Verdict
from rules_engine.mining import Statistics
from rules_engine.types import Sample

PARTS = 3
"""An archive is cut into so many, by session: what the others teach is held against each."""

Read = Callable[[], Iterable[Sample]]
"""Reads the archive; it is read twice, so that it need not fit into memory."""


def learn(read: Read) -> tuple[Verdict, ...]:
    """A verdict on every rule that `read`'s samples suggest."""
    parts = [Statistics() for _ in range(PARTS)]
    for sample in read():
        parts[part_of(sample.session)].add(sample)
    trials = [Trial(rule) for rule in _merged(parts).rules()]
    checks = [_trials([part for place, part in enumerate(parts) if place != at]) for at in range(PARTS)]
    for sample in read() if trials else ():
        for trial in (*trials, *checks[part_of(sample.session)].values()):
            trial.add(sample)
    return tuple(_checked(trial.verdict(), checks) for trial in trials)


def part_of(session: str) -> int:
    """The part that a session belongs to."""
    return blake2b(session.encode("utf-8", "surrogatepass"), digest_size=4).digest()[0] % PARTS


def _merged(parts: Sequence[Statistics]) -> Statistics:
    whole = Statistics()
    for part in parts:
        whole.merge(part)
    return whole


def _trials(parts: Sequence[Statistics]) -> Mapping[str, Trial]:
    return {rule.id: Trial(rule) for rule in _merged(parts).rules()}


def _checked(verdict: Verdict, checks: Sequence[Mapping[str, Trial]]) -> Verdict:
    """Refused if what the other parts teach works in too few that they have not seen, or loses something there."""
    found = (check.get(verdict.rule.id) for check in checks)
    again = [trial for trial in found if trial is not None and trial.has_acted]
    lost = sorted({string for trial in again for string in trial.lost})
    figures = dict(verdict.figures) | {"parts": len(again), "lost_elsewhere": len(lost)}
    reason = ""
    if len(again) < PARTS - 1:
        reason = f"learned without them, it works in only {len(again)} of {PARTS} parts of the archive"
    elif lost:
        reason = f"in sessions that it was not mined from it loses {', '.join(lost[:NAMED])}"
    if not verdict.admitted or not reason:
        return replace(verdict, figures=figures)
    return replace(verdict, admitted=False, reason=reason, figures=figures)
