"""kill-terminalbench's code."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gateway.framings import kill_terminalbench


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="an empty text"),
        pytest.param("[exit_code=?]\n\na", id="no number"),
        pytest.param("a\n[exit_code=0]\n\nb", id="a code later"),
        pytest.param("[persisted_output]\nsaved\n\n[preview]\nabc", id="a preview without a code"),
    ],
)
def test_declines(text: str) -> None:
    """A text that only resembles the form is left to other framings."""
    assert kill_terminalbench.split(text) is None


@pytest.mark.parametrize(
    ("marked", "code"),
    [
        pytest.param("[exit_code=0]\n\n«a\n»", 0, id="output"),
        pytest.param("[exit_code=1; note=no matches found]", 1, id="a note"),
        pytest.param("[exit_code=139]", 139, id="no output"),
        pytest.param(
            "[persisted_output]\nFull output saved to /x\nUse cat.\n\n[preview]\n[exit_code=2]\n\n«a»",
            2,
            id="a preview",
        ),
    ],
)
def test_splits(splits: Callable[..., None], marked: str, code: int | None) -> None:
    """The wrapper stays, the output is the body."""
    splits(kill_terminalbench.split, marked, code)
