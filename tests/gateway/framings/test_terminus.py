"""Terminus' screens."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gateway.framings import terminus


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="an empty text"),
        pytest.param(
            "Do it.\n\nCurrent terminal state:\nCurrent Terminal Screen:\n$ \n", id="a task that ends in a screen"
        ),
        pytest.param(
            "Previous response had parsing errors:\nERROR: no JSON\n\nPlease fix these issues.",
            id="an answer that could not be read",
        ),
        pytest.param("Previous response had warnings:\n- a\n\nGo on.", id="warnings without a screen"),
    ],
)
def test_declines(text: str) -> None:
    """A text that only resembles the form is left to other framings."""
    assert terminus.split(text) is None


@pytest.mark.parametrize(
    ("marked", "code"),
    [
        pytest.param("New Terminal Output:\n«\n$ ls\na\n$ »", None, id="new output"),
        pytest.param("Current Terminal Screen:\n«$ ls\n\n\n»", None, id="a screen"),
        pytest.param(
            "Previous response had warnings:\nWARNINGS: - Extra text\n- More\n\nNew Terminal Output:\n«$ »",
            None,
            id="warnings before it",
        ),
        pytest.param(
            "Current terminal state:\nNew Terminal Output:\n«\n$ »\n\nAre you sure you want to mark the task as complete? Say so.",
            None,
            id="the question at the end",
        ),
        pytest.param(
            "New Terminal Output:\n«a\n\nAre you sure you want to mark the task as complete?»",
            None,
            id="the question inside output is output",
        ),
        pytest.param("New Terminal Output:\n", None, id="an empty screen"),
    ],
)
def test_splits(splits: Callable[..., None], marked: str, code: int | None) -> None:
    """The wrapper stays, the output is the body."""
    splits(terminus.split, marked, code)
