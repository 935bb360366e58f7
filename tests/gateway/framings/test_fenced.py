"""A code and a fenced block."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gateway.framings import fenced


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="an empty text"),
        pytest.param("Exit code 1.", id="a code alone"),
        pytest.param("Exit code 0. Output:\n```\na\n", id="a block that does not end"),
        pytest.param("Exit code 0. Output:\n```\na\n```\nb", id="text after the block"),
    ],
)
def test_declines(text: str) -> None:
    """A text that only resembles the form is left to other framings."""
    assert fenced.split(text) is None


@pytest.mark.parametrize(
    ("marked", "code"),
    [
        pytest.param("Exit code 0. Output:\n```\n«a\nb\n»```", 0, id="output"),
        pytest.param("Exit code 1. Output:\n````text\n«```\nx\n```\n»````", 1, id="a longer fence"),
        pytest.param("Exit code 1. Output:\n```\n```", 1, id="no output"),
    ],
)
def test_splits(splits: Callable[..., None], marked: str, code: int | None) -> None:
    """The wrapper stays, the output is the body."""
    splits(fenced.split, marked, code)
