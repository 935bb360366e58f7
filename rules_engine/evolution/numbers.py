"""Every number of evolution in one place; each says whether it is the paper's, its released code's or ours."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """What an operator may say about evolution (`config.yaml`, section `evolution`)."""

    initial_confidence: float = 1.0
    """Paper. Of a rule that was proposed here; an imported one brings its own (the code's seeds: 0.8)."""
    top_k: int = 30
    """Paper. Rules in use in one task, best score ``c * (n + 1)`` first."""
    plan_least: int = 3
    """Paper. Rules that a planner is asked for at least."""
    plan_most: int = 7
    """Paper. Rules that are taken from one plan."""
    uncovered_chars: int = 3000
    """Code. A longer observation that no rule is for asks for a new rule."""
    proposals_per_task: int = 3
    """Code (in a comment). Calls to a model for new or softer rules in one task."""
    credit: float = 1.05
    """Code (without effect there). What an application without complaint does to confidence in the task."""
    credit_most: float = 1.0
    """Code. Confidence never gets above it."""
    runtime_off: float = 0.3
    """Code. A rule with less confidence is off."""
    write_back_applied: int = 1
    """Paper. A rule is written back if the task applied it at least so often ..."""
    write_back_confidence: float = 0.2
    """Code (the paper's tau, which it does not give) ... and has at least this confidence at its end."""
    fusion_old: float = 0.7
    """Code. Share of the pool's confidence in the new one; the rest, 0.3, is the task's."""
    complaint_decay: float = 0.5
    """Code. What a complaint leaves of the pool's confidence."""
    idle_seconds: int = 300
    """Ours. A session that nothing was heard of for so long has ended; so has one whose agent asked for nothing more."""
    batch_tasks: int = 4
    """Paper. Tasks that end between two measurements of Retention."""
    retention_k: int = 30
    """Paper. Rules at the top that are compared; with fewer live rules Retention is undefined."""
    retention_line: float = 0.9
    """Paper. From here on the pool has converged ..."""
    retention_batches: int = 3
    """Ours ... if it holds for so many batches, one after the other: then nothing is proposed any more."""
    shadow_sessions: int = 3
    """Ours. Sessions in which a rule is decided and not applied before it is tried ..."""
    shadow_outputs: int = 10
    """Ours ... and outputs that it would have rewritten there."""
    canary_share: float = 0.2
    """Ours. Sessions in which a rule is tried."""
    canary_sessions: int = 3
    """Ours. Sessions without complaint before it goes live ..."""
    canary_outputs: int = 10
    """Ours ... and outputs rewritten in them."""
    trial_rules: int = 10
    """Ours. Rules in trial in one session, beside the top."""
    generic_places: int = 3
    """Ours. Repositories in which a rule has to work before it is in use whatever a task is about."""
    entries: int = 2000
    """Ours. Rules that a pool remembers; the longest refused or retired are forgotten first."""
    outcomes: int = 64
    """Ours. Ends of tasks that a rule's confidence is made of; what is older weighs less than 0.7 ** 64."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            is_count = isinstance(field.default, int)
            if not (value >= 1 if is_count else 0 <= value <= (2 if field.name == "credit" else 1)):
                raise ValueError(f"{field.name} must be {'at least 1' if is_count else 'from 0 to 1'}, not {value!r}")
