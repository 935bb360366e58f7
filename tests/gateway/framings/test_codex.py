"""Codex's head."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gateway.framings import codex


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="an empty text"),
        pytest.param("Wall time: 3.5 seconds\n", id="a wall time alone"),
        pytest.param("Output:\nabc", id="the word output alone"),
        pytest.param("Wall time: 1.0 seconds\nMood: good\nOutput:\nabc", id="a line between that is not known"),
    ],
)
def test_declines(text: str) -> None:
    """A text that only resembles the form is left to other framings."""
    assert codex.split(text) is None


@pytest.mark.parametrize(
    ("marked", "code"),
    [
        pytest.param(
            "Chunk ID: 1f\nWall time: 0.1 seconds\nProcess exited with code 1\nOriginal token count: 2\nOutput:\n«a\nb\n»",
            1,
            id="a command that ended",
        ),
        pytest.param(
            "Chunk ID: 1f\nWall time: 10.0 seconds\nProcess running with session ID 5\nOriginal token count: 0\nOutput:\n",
            None,
            id="a command that runs on",
        ),
        pytest.param("Exit code: 0\nWall time: 0 seconds\nOutput:\n«Success.\n»", 0, id="a patch"),
        pytest.param(
            "Exit code: 2\nWall time: 1.5 seconds\nTotal output lines: 900\nOutput:\n«a»", 2, id="lines counted"
        ),
        pytest.param('Wall time: 2.1 seconds\nOutput:\n«{"id": 1}»', None, id="another tool"),
        pytest.param(
            "Wall time: 2.1 seconds\nOutput:\nWarning: truncated output (original token count: 9)\nTotal output lines: 3\n\n«a»",
            None,
            id="a notice that not all of it is shown",
        ),
        pytest.param(
            "Wall time: 2.1 seconds\nOutput:\n«Warning: truncated output, says the program\n»",
            None,
            id="what only resembles such a notice stays in the body",
        ),
        pytest.param("Script completed\nWall time 0.1 seconds\nOutput:\n«a»", None, id="a script"),
    ],
)
def test_splits(splits: Callable[..., None], marked: str, code: int | None) -> None:
    """The wrapper stays, the output is the body."""
    splits(codex.split, marked, code)
