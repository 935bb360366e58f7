"""OpenHands' lines in brackets."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gateway.framings import openhands


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="an empty text"),
        pytest.param("a [b]", id="a bracket"),
        pytest.param("a\n[Current working directory: /x]", id="a directory alone"),
        pytest.param("a\n[Command finished with exit code 0]\nb", id="text after the code"),
    ],
)
def test_declines(text: str) -> None:
    """A text that only resembles the form is left to other framings."""
    assert openhands.split(text) is None


@pytest.mark.parametrize(
    ("marked", "code"),
    [
        pytest.param(
            "«a\nb»\n[The command completed with exit code 1.]\n[Current working directory: /x]\n[Command finished with exit code 1]",
            1,
            id="the SDK",
        ),
        pytest.param(
            "«a»\n[The command completed with exit code 0.]\n[Current working directory: /x]\n[Python interpreter: /x/python]\n[Command finished with exit code 0]",
            0,
            id="with an interpreter",
        ),
        pytest.param(
            "EXECUTION RESULT of [execute_bash]:\n«a»\n[Command finished with exit code 0]", 0, id="in a user message"
        ),
        pytest.param(
            "Observed result of command executed by user:\n\n«a»\n[Command finished with exit code 0]",
            0,
            id="run by the user",
        ),
        pytest.param("«a\n[Current working day: 3]»\n[Command finished with exit code -1]", -1, id="only the code"),
        pytest.param(
            "\n[The command completed with exit code 0.]\n[Command finished with exit code 0]", 0, id="no output"
        ),
    ],
)
def test_splits(splits: Callable[..., None], marked: str, code: int | None) -> None:
    """The wrapper stays, the output is the body."""
    splits(openhands.split, marked, code)
