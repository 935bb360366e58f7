"""Gateways that run now: each leaves a note in its data folder for as long as it serves."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

PATIENCE = 2.0


@contextmanager
def announced(data: Path, url: str) -> Iterator[None]:
    """Leave a note that a gateway serves at `url`, until the context ends."""
    note = data / f"running-{os.getpid()}.json"
    note.write_text(json.dumps({"pid": os.getpid(), "url": url}), encoding="ascii")
    try:
        yield
    finally:
        note.unlink(missing_ok=True)


def find(data: Path) -> str | None:
    """The base URL of a gateway that serves this folder now; notes that dead ones left are removed."""
    for note in sorted(data.glob("running-*.json")):
        try:
            said = json.loads(note.read_text(encoding="ascii"))
            pid, url = int(said["pid"]), str(said["url"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if is_alive(pid) and (health(url) is not None):
            return url
        if not is_alive(pid):
            note.unlink(missing_ok=True)
    return None


def health(url: str) -> dict[str, object] | None:
    """What the gateway at `url` says of itself; `None` if there is none."""
    with (
        suppress(OSError, ValueError),
        build_opener(ProxyHandler({})).open(f"{url}/healthz", timeout=PATIENCE) as answer,
    ):
        said = json.load(answer)
        return said if isinstance(said, dict) and "status" in said else None
    return None


def is_alive(pid: int) -> bool:
    """Whether there is a process with this id."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
