"""What a terminal sees while the memory works, and that nobody else sees it."""

from __future__ import annotations

import io
import sys
import time
from pathlib import Path

import pytest

from gateway.commands.waiting import LOOK, watch_run, watched
from gateway.config import Config
from gateway.remembering.memories import Memory
from tests.gateway.remembered import remember


class Terminal(io.StringIO):
    """Standard error of a person."""

    def isatty(self) -> bool:
        """It is one."""
        return True


def test_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    """Where there is no terminal nothing is printed; what the work raises is raised."""
    assert watched("Working", lambda: time.sleep(2 * LOOK) or 7) == 7
    with pytest.raises(KeyError):
        watched("Working", lambda: {}["x"])
    assert capsys.readouterr() == ("", "")


def test_a_person_sees_that_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """And a clean line at the end."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert watched("Working", lambda: time.sleep(2.5 * LOOK) or 7) == 7
    assert "\rWorking … 0 s " in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\033[K")


def test_a_run_has_a_bar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends full, and the report is the run's."""
    memory = Memory(remember(tmp_path / "data").root)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert watch_run(memory, Config(), False)["state"] == "done"
    assert "100%" in terminal.getvalue()
