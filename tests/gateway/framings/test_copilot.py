"""Copilot's tag."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gateway.framings import copilot


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="an empty text"),
        pytest.param("<b>a</b>", id="another tag"),
        pytest.param("a\n<shellId: 1 completed with exit code 0>\nb", id="text after the tag"),
    ],
)
def test_declines(text: str) -> None:
    """A text that only resembles the form is left to other framings."""
    assert copilot.split(text) is None


@pytest.mark.parametrize(
    ("marked", "code"),
    [
        pytest.param("«a\n»\n<shellId: 12 completed with exit code 3>", 3, id="a command that ended"),
        pytest.param("\n<shellId: 0 completed with exit code 0>", 0, id="no output"),
        pytest.param(
            "«a»\n<command with shellId: 2 is still running after 30 seconds. Use read_bash.>",
            None,
            id="a command that runs on",
        ),
    ],
)
def test_splits(splits: Callable[..., None], marked: str, code: int | None) -> None:
    """The wrapper stays, the output is the body."""
    splits(copilot.split, marked, code)
