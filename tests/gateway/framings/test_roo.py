"""Roo Code's head."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gateway.framings import roo


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="an empty text"),
        pytest.param("Command executed in terminal within working directory '/x'. Exit code: 0", id="no output"),
        pytest.param(
            "Command is still running in terminal from '/x'.\nHere's the output so far:\na", id="a command that runs on"
        ),
    ],
)
def test_declines(text: str) -> None:
    """A text that only resembles the form is left to other framings."""
    assert roo.split(text) is None


@pytest.mark.parametrize(
    ("marked", "code"),
    [
        pytest.param(
            "Command executed in terminal within working directory '/x'. Exit code: 0\nOutput:\n«a»", 0, id="a success"
        ),
        pytest.param(
            "Command executed in terminal  within working directory '/x'. Command execution was not successful, inspect the cause and adjust as needed.\nExit code: 127\nOutput:\n«a»",
            127,
            id="a failure",
        ),
        pytest.param(
            "Command executed in terminal within working directory '/x'. Process terminated by signal SIGKILL\nOutput:\n«a»",
            None,
            id="a signal",
        ),
        pytest.param(
            "Command executed in terminal within working directory '/x'. Exit code: <undefined, notify user>\nOutput:\n",
            None,
            id="a code that is not known",
        ),
    ],
)
def test_splits(splits: Callable[..., None], marked: str, code: int | None) -> None:
    """The wrapper stays, the output is the body."""
    splits(roo.split, marked, code)
