"""The command line as a whole: help, versions, names, and what is not loaded."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gateway.commands import COMMANDS
from tests.commandline import environment, invoke


def test_an_unknown_command() -> None:
    """A typing error is told with where to look."""
    result = invoke("upp")
    assert result.exit_code == 2
    assert "No such command 'upp'" in result.stderr


def test_help_names_every_command() -> None:
    """In the order of the table, without importing any."""
    out = invoke("--help").stdout.partition("Commands:")[2]
    places = [out.index(f"\n  {name} ") for name in COMMANDS]
    assert places == sorted(places)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_its_help(name: str) -> None:
    """The table and the modules agree, and each takes a data folder but for the one that only reads files."""
    result = invoke(name, "--help")
    assert result.exit_code == 0
    assert "--data" in result.stdout or "list" in result.stdout or name == "learn"


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_loads_what_it_does_not_need(name: str) -> None:
    """litellm takes seconds and hundreds of megabytes; only a request for it may load it."""
    code = f"import sys, gateway.commands.{name}; print(*({{'litellm', 'tiktoken', 'openai'}} & sys.modules.keys()))"
    ended = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True)
    assert ended.stdout == "\n"
