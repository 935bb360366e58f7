"""Continue's failures."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gateway.framings import continue_cli


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="an empty text"),
        pytest.param("a\nb", id="plain output"),
        pytest.param("Error executing tool Bash: no such tool", id="an error without a code"),
    ],
)
def test_declines(text: str) -> None:
    """A text that only resembles the form is left to other framings."""
    assert continue_cli.split(text) is None


@pytest.mark.parametrize(
    ("marked", "code"),
    [
        pytest.param("Error executing tool Bash: Error (exit code 3): «to stderr\n»", 3, id="a failure"),
    ],
)
def test_splits(splits: Callable[..., None], marked: str, code: int | None) -> None:
    """The wrapper stays, the output is the body."""
    splits(continue_cli.split, marked, code)
