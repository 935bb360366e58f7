"""The tools that decide beside the tests: types, lint, layout."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    "command",
    [("mypy",), ("ruff", "check", "."), ("ruff", "format", "--check", ".")],
    ids=["mypy --strict", "ruff check", "ruff format"],
)
def test_the_tools_have_nothing_to_say(command: tuple[str, ...]) -> None:
    """Strict types, no lint, one layout."""
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
