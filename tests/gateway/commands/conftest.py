"""What the tests of the commands share: the command line as a process, and a folder in which the demo was recorded."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commandline import environment, start, taco

__all__ = ["start", "taco"]


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of a demo that was run, and what it printed."""
    data = tmp_path_factory.mktemp("demo")
    words = [sys.executable, "-m", "gateway", "demo", "--data", str(data)]
    ended = subprocess.run(words, env=environment(), capture_output=True, text=True, timeout=60, check=True)
    assert ended.stderr == ""
    return data, ended.stdout


@pytest.fixture
def data(demo: tuple[Path, str], tmp_path: Path) -> Path:
    """A copy of the demo's folder."""
    return Path(shutil.copytree(demo[0], tmp_path / "data"))
