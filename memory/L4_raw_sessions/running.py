"""One run: what it works on, what it is allowed, what it has to say at its end."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from memory.L4_raw_sessions.archived import Archived
from memory.L4_raw_sessions.journal import Journal
from memory.L4_raw_sessions.places import Places

PHASES = ("Scan", "Compress & Extract", "Append History", "Archive", "Verify & Index", "Cleanup")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a run leaves alone."""

    min_age_s: float = 7200.0
    """Seconds that a log has to have been quiet for."""
    keep_newest: int = 0
    min_bytes: int = 0
    trash_days: float = 7.0


@dataclass(slots=True, kw_only=True)
class Report:
    """What a run did; as a dict it is what callers are given."""

    run_id: str
    state: str = "done"
    """done, failed, or busy: another run is under way, and this one did nothing."""
    dry_run: bool = False
    processed: int = 0
    """Raw logs that were compressed."""
    new_sessions: int = 0
    """Members that were added to a zip and read back."""
    deleted_raw: int = 0
    """Raw logs that were moved into the trash."""
    skipped: int = 0
    errors: list[str] = field(default_factory=list)
    sessions: list[str] = field(default_factory=list)
    bytes_raw: int = 0
    bytes_archived: int = 0
    verified: int = 0
    duplicates: int = 0
    quarantined: int = 0
    redactions: int = 0
    let_go: int = 0
    """Contents that stood in `archive.sqlite`, too, and stand in the zips only now."""
    seconds: float = 0.0
    details: list[str] = field(default_factory=list)
    archived: list[dict[str, str]] = field(default_factory=list)
    """Of each new member its `session` and its `name`, ``YYYY-MM/MMDD_HHMM-MMDD_HHMM``."""

    def as_dict(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


@dataclass(slots=True, kw_only=True)
class Run:
    """A run that is under way."""

    id: str
    raw: Path | tuple[Path, ...]
    """A folder of raw logs, or some of them."""
    places: Places
    staging: Path
    """Where members are made, on the disk of the zips."""
    journal: Journal
    archived: Archived
    now: float
    limits: Limits
    report: Report
    pending: set[str] = field(default_factory=set)
    """Keys of exchanges that are on their way into a zip."""

    def note(self, path: Path, why: str) -> None:
        """A log is left where it is."""
        self.report.skipped += 1
        self.report.details.append(f"{path.name}: {why}")
