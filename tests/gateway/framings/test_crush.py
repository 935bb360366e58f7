"""Crush's directory."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gateway.framings import crush


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="an empty text"),
        pytest.param("<cwd>/x</cwd>\na", id="a directory at the head"),
        pytest.param("a\n<cwd>/x</cwd>", id="no blank line before it"),
        pytest.param("a\n\n<cwd>/x\n</cwd>", id="a directory across lines"),
    ],
)
def test_declines(text: str) -> None:
    """A text that only resembles the form is left to other framings."""
    assert crush.split(text) is None


@pytest.mark.parametrize(
    ("marked", "code"),
    [
        pytest.param("«a\nb»\n\n<cwd>/x</cwd>", None, id="output"),
        pytest.param("«a\n\nwarned»\nExit code 2\n\n<cwd>/x</cwd>", 2, id="a failure"),
        pytest.param("«it said Exit code 2»\n\n<cwd>/x</cwd>", None, id="a code inside a line is output"),
    ],
)
def test_splits(splits: Callable[..., None], marked: str, code: int | None) -> None:
    """The wrapper stays, the output is the body."""
    splits(crush.split, marked, code)
