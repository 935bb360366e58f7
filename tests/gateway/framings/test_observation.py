"""The word `Observation:`."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gateway.framings import observation


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="an empty text"),
        pytest.param("Observation: it works", id="the word in a sentence"),
        pytest.param("a\nObservation:\nb", id="the word later"),
    ],
)
def test_declines(text: str) -> None:
    """A text that only resembles the form is left to other framings."""
    assert observation.split(text) is None


@pytest.mark.parametrize(
    ("marked", "code"),
    [
        pytest.param("OBSERVATION:\n«a\r\nb»", None, id="SWE-agent"),
        pytest.param("Observation:\n«a\n»", None, id="smolagents"),
        pytest.param("Observation:\n", None, id="nothing after it"),
    ],
)
def test_splits(splits: Callable[..., None], marked: str, code: int | None) -> None:
    """The wrapper stays, the output is the body."""
    splits(observation.split, marked, code)
