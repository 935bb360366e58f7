"""deepagents' verdict."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gateway.framings import deepagents


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="an empty text"),
        pytest.param("a\nExit code: 1", id="a code without a blank line before it"),
        pytest.param("a\n\n[Command succeeded with exit code 0]\nb", id="the verdict in the middle"),
    ],
)
def test_declines(text: str) -> None:
    """A text that only resembles the form is left to other framings."""
    assert deepagents.split(text) is None


@pytest.mark.parametrize(
    ("marked", "code"),
    [
        pytest.param("«a»\n\n[Command succeeded with exit code 0]", 0, id="a success"),
        pytest.param(
            "«[stderr] a»\n[Command succeeded with exit code 0]", 0, id="a success that wrote to the error stream"
        ),
        pytest.param("«a»\n\nExit code: 2\n[Command failed with exit code 2]", 2, id="a failure"),
        pytest.param("«a»\n\nExit code: 2", 2, id="the older form"),
    ],
)
def test_splits(splits: Callable[..., None], marked: str, code: int | None) -> None:
    """The wrapper stays, the output is the body."""
    splits(deepagents.split, marked, code)
