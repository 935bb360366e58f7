"""The last sentence of pi and its relatives."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gateway.framings import pi


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="an empty text"),
        pytest.param("a\nCommand exited with code 1", id="the sentence without a blank line before it"),
        pytest.param("a\n\nCommand exited with code 1\nb", id="the sentence in the middle"),
        pytest.param("a\n\nCommand exited with code x", id="no number"),
    ],
)
def test_declines(text: str) -> None:
    """A text that only resembles the form is left to other framings."""
    assert pi.split(text) is None


@pytest.mark.parametrize(
    ("marked", "code"),
    [
        pytest.param("«a\n»\n\nCommand exited with code 1", 1, id="pi"),
        pytest.param("«a»\n\n(Command exited with code 127)", 127, id="OpenClaw"),
        pytest.param("«a»\n\nProcess exited with code 0.", 0, id="a background process"),
        pytest.param("«a»\n\nProcess still running.", None, id="one that runs on"),
        pytest.param("\n\n(Command exited with code 1)", 1, id="no output"),
    ],
)
def test_splits(splits: Callable[..., None], marked: str, code: int | None) -> None:
    """The wrapper stays, the output is the body."""
    splits(pi.split, marked, code)
