"""The command line as a whole: help, versions, names, and what is not loaded."""

from __future__ import annotations

import errno
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from gateway.__main__ import Commands
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


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    """Whatever a command wants of it, that is said in one line, without a traceback."""
    (tmp_path / "file").write_text("")
    result = invoke("memory", "status", "--data", tmp_path / "file")
    assert result.exit_code == 1
    assert result.stderr.startswith(f"Error: {tmp_path}/file/memory")
    assert result.stderr.count("\n") == 1


def test_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it cannot run it says where it can, before anything is imported that is missing there."""
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(Commands, "get_command", None)
    result = invoke("up")
    assert (result.exit_code, result.stderr.count("\n"), "inside WSL" in result.stderr) == (1, 1, True)


def test_nobody_reads_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that leaves early, such as `head`, is no trouble with a file."""

    def gone(context: object) -> None:
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    monkeypatch.setattr(import_module("gateway.commands.doctor").command, "invoke", gone)
    result = invoke("doctor")
    assert (result.exit_code, result.stderr) == (1, "")


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
