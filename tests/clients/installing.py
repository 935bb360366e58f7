"""The agents of package.json, installed once for all workers of a test run, beside the checkout's other leavings."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1] / ".clients"
FILES = ("package.json", "package-lock.json", ".npmrc")
PATIENCE = 600.0
QUIET = ("--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--fetch-retries=1")


class NotHad(Exception):
    """They cannot be installed on this machine; the message says why."""


def install(root: Path = ROOT, files: Path = HERE) -> Path:
    """The folder `node_modules` with what the lock file pins. Raises `NotHad`."""
    npm = shutil.which("npm")
    if npm is None:
        raise NotHad("there is no npm")
    folder = root / sha256((files / "package-lock.json").read_bytes()).hexdigest()[:12]
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder):
        if not (folder / "done").exists():
            _install(npm, folder, files)
    return folder / "node_modules"


def _install(npm: str, folder: Path, files: Path) -> None:
    refused, run = folder / "refused", os.environ.get("PYTEST_XDIST_TESTRUNUID", "alone")
    if refused.exists() and refused.read_text().partition("\n")[0] == run != "alone":
        raise NotHad(refused.read_text().partition("\n")[2])  # another worker of this run has tried
    # Not `npm ci`: it wants the programs for other machines in the lock file, and not every registry has those.
    for name in FILES:
        shutil.copy(files / name, folder)
    try:
        subprocess.run(
            [npm, "install", *QUIET],
            cwd=folder,
            check=True,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=PATIENCE,
        )
    except (OSError, subprocess.SubprocessError) as error:
        said = getattr(error, "stderr", None) or b""
        why = f"npm cannot install them: {said.decode(errors='replace').strip()[-300:] or error}"
        refused.write_text(f"{run}\n{why}")
        raise NotHad(why) from error
    (folder / "done").touch()


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One worker at a time; the others find it done."""
    with (folder / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
