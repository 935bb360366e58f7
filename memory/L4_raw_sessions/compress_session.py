"""The contract of the session archive: these four functions, their arguments and their answers are relied on from outside."""

from __future__ import annotations

import os
import time
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from memory.L4_raw_sessions import phases, zips
from memory.L4_raw_sessions.compressing import Compressed, compress, compress_raw
from memory.L4_raw_sessions.files import make_folder
from memory.L4_raw_sessions.history import history_lines, iso, read_history
from memory.L4_raw_sessions.places import Places, distinct, member_name, month_of, places_of
from memory.L4_raw_sessions.running import Limits

StrPath = str | os.PathLike[str]


def batch_process(
    raw_dir: StrPath | Sequence[StrPath],
    l4_dir: StrPath | None = None,
    dry_run: bool = True,
    *,
    min_age_s: float = 7200.0,
    keep_newest: int = 0,
    min_bytes: int = 0,
    trash_days: float = 7.0,
    clock: Callable[[], float] = time.time,
) -> dict[str, Any]:
    """Archive the raw logs of a folder (or those named) that have been quiet for two hours, and say what was done.

    With `dry_run` nothing is changed. Without `l4_dir` the archive is `memory/L4_raw_sessions` beside `temp/`.
    """
    raw: Path | tuple[Path, ...]
    raw = Path(raw_dir) if isinstance(raw_dir, str | os.PathLike) else tuple(map(Path, raw_dir))
    folder = raw if isinstance(raw, Path) else (raw[0].parent if raw else Path())
    places = Places(Path(l4_dir)) if l4_dir is not None else places_of(folder)
    limits = Limits(min_age_s=min_age_s, keep_newest=keep_newest, min_bytes=min_bytes, trash_days=trash_days)
    work = phases.preview if dry_run else phases.run
    return work(raw, places, limits, clock).as_dict()


def compress_session(src: StrPath, dst_dir: StrPath | None = None) -> tuple[str, dict[str, Any]] | tuple[None, str]:
    """Compress one raw log into `MMDD_HHMM-MMDD_HHMM.txt` in `dst_dir`; its path and figures, or `None` and the reason."""
    source = Path(src)
    folder = Path(dst_dir) if dst_dir is not None else places_of(source.parent).folder
    draft = folder / f".{source.name}.draft"
    try:
        if not source.stat().st_size:
            return None, "the file is empty"
        make_folder(folder)
        with open(os.open(draft, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as file:
            made = compress(source, file)
        path = _place(folder, made)
        os.replace(draft, path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        return None, f"{source}: {error.strerror}"
    return str(path), _figures(source, path, made)


def _compress_raw(text: str) -> str:
    """A log with free text, without the echo sections that say nothing, or nothing new."""
    return compress_raw(text)


def extract_history(src: StrPath, session_name: str | None = None) -> list[str]:
    """The lines of a session, "[USER]: …", "[Agent] …", "[Tool] …", from its file or, by its name, from a zip."""
    if session_name is not None and zipfile.is_zipfile(src):
        with zips.extracted(Path(src), session_name) as file:
            return read_history(file)
    return history_lines(Path(src))


def _place(folder: Path, made: Compressed) -> Path:
    path = folder / member_name(made.started, made.ended)
    if not path.exists():
        return path
    with path.open("rb") as file:
        return path if zips.digest_of(file) == made.sha256 else folder / distinct(path.name, made.sha256)


def _figures(source: Path, path: Path, made: Compressed) -> dict[str, Any]:
    return {
        "src": str(source),
        "dst": str(path),
        "fmt": made.format,
        "orig_kb": round(made.raw_size / 1024, 1),
        "new_kb": round(made.size / 1024, 1),
        "ratio": f"{100 * made.size / made.raw_size:.0f}%",
        "original_size": made.raw_size,
        "new_size": made.size,
        "year": int(month_of(made.started)[:4]),
        "session_id": made.session,
        "start": iso(made.started),
        "end": iso(made.ended),
        "messages": made.messages,
        "sha256_raw": made.raw_sha256,
        "sha256": made.sha256,
        "redactions": made.redactions,
    }
