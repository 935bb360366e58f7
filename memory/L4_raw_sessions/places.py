"""Where the parts of one archive lie, and how zips and their members are called."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

RAW = "model_responses_*.txt"
"""Raw logs: one a session, written by whoever talks to the model."""

SEAL = ".sealed"
SEALED = f"model_responses_*{SEAL}"
"""Raw logs that a run has put aside: what is written later begins a new file."""

ZIP = re.compile(r"(\d{4}-\d{2})(?:_(\d+))?\.zip")

SEPARATOR = "=" * 60
"""Stands above and below a session's name in the histories."""


@dataclass(frozen=True, slots=True)
class Places:
    """One folder `memory/L4_raw_sessions` with its parts."""

    folder: Path

    @property
    def histories(self) -> Path:
        """What was said in all sessions, a few words a message."""
        return self.folder / "all_histories.txt"

    @property
    def index(self) -> Path:
        """What is in the zips, and the journal of the runs."""
        return self.folder / "index.sqlite"

    @property
    def lock(self) -> Path:
        """Held by the one run that is under way."""
        return self.folder / "run.lock"

    @property
    def staging(self) -> Path:
        """Members of a run that is under way, a folder for each run."""
        return self.folder / "staging"

    @property
    def trash(self) -> Path:
        """Raw logs that are in a verified zip, for some days, a folder for each run."""
        return self.folder / "trash"

    @property
    def quarantine(self) -> Path:
        """What could not be read, for a person to look at."""
        return self.folder / "quarantine"

    def zips(self, month: str | None = None) -> list[Path]:
        """The zips of a month, or all, in the order in which they were begun."""
        found = [(match, path) for path in self.folder.glob("*.zip") if (match := ZIP.fullmatch(path.name))]
        own = [(match[1], int(match[2] or 1), path) for match, path in found if month in (None, match[1])]
        return [path for _, _, path in sorted(own)]


def places_of(raw: Path) -> Places:
    """The archive that belongs to a folder of raw logs: `memory/` beside its `temp/`, else that of this folder."""
    raw = raw.absolute()
    root = raw.parents[1] if raw.parts[-2:] == ("temp", "model_responses") else Path.cwd()
    return Places(root / "memory" / "L4_raw_sessions")


def member_name(start: float, end: float) -> str:
    """`MMDD_HHMM-MMDD_HHMM.txt`, in UTC."""
    return f"{_moment(start):%m%d_%H%M}-{_moment(end):%m%d_%H%M}.txt"


def name_of(zip_: str, member: str) -> str:
    """`YYYY-MM/MMDD_HHMM-MMDD_HHMM`: what a session in a zip, or the part of one, is called by people."""
    return f"{zip_[:7]}/{member.removesuffix('.txt')}"


def distinct(name: str, sha256: str) -> str:
    """The name of a member whose plain name another content has in that month."""
    return f"{name.removesuffix('.txt')}~{sha256[:8]}.txt"


def month_of(start: float) -> str:
    """`YYYY-MM`: the month, in UTC, in which a session began."""
    return f"{_moment(start):%Y-%m}"


def zip_name(month: str, number: int) -> str:
    """`YYYY-MM.zip`, and `YYYY-MM_2.zip` after it has grown full."""
    return f"{month}.zip" if number == 1 else f"{month}_{number}.zip"


def _moment(time: float) -> datetime:
    return datetime.fromtimestamp(time, UTC)


def places_at(l4_dir: Path | str | None) -> Places:
    """The archive in a folder; `memory/L4_raw_sessions` here, where none is said."""
    return Places(Path(l4_dir) if l4_dir else Path("memory", "L4_raw_sessions"))
