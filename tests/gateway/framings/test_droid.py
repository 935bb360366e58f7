"""Droid's last line."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gateway.framings import droid


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="an empty text"),
        pytest.param("a [b]", id="another bracket"),
        pytest.param("a\n[Process exited with code 0]\nb", id="text after the code"),
        pytest.param("Error: Command failed (exit code: 1)\na", id="a failure without the last line"),
    ],
)
def test_declines(text: str) -> None:
    """A text that only resembles the form is left to other framings."""
    assert droid.split(text) is None


@pytest.mark.parametrize(
    ("marked", "code"),
    [
        pytest.param("«a\nb»\n\n\n[Process exited with code 0]", 0, id="output"),
        pytest.param("Error: Command failed (exit code: 4)\n«a»\n\n\n[Process exited with code 4]", 4, id="a failure"),
        pytest.param(
            "«a\n\nFull command output saved to: /x (9KB)»\n\n[Process exited with code 0]",
            0,
            id="a notice of its own stays in the body",
        ),
    ],
)
def test_splits(splits: Callable[..., None], marked: str, code: int | None) -> None:
    """The wrapper stays, the output is the body."""
    splits(droid.split, marked, code)
