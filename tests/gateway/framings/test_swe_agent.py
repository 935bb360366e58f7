"""SWE-agent's prompt."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gateway.framings import swe_agent


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="an empty text"),
        pytest.param("bash-$", id="a prompt alone"),
        pytest.param("a\n(Open door: yes)\nbash-$", id="a prompt after other brackets"),
        pytest.param(
            "a\n(Open file: n/a)\n(Current directory: /x)\nbash-$ ls", id="the state lines with text after them"
        ),
        pytest.param("a\n(Current directory: /x)\n(Open file: n/a)\nbash-$", id="the state lines the other way round"),
    ],
)
def test_declines(text: str) -> None:
    """A text that only resembles the form is left to other framings."""
    assert swe_agent.split(text) is None


@pytest.mark.parametrize(
    ("marked", "code"),
    [
        pytest.param("«a\nb»\n(Open file: /x/a.py)\n(Current directory: /x)\nbash-$", None, id="output"),
        pytest.param("«a»\n\n\n(Open file: n/a)\n(Current directory: /x)\nbash-$", None, id="blank lines between"),
        pytest.param(
            "«a»\n(Current Step: 1, Remaining Steps: 2)\n(Open file: n/a)\n(Current directory: /x)\nbash-$",
            None,
            id="steps counted",
        ),
        pytest.param("(Open file: n/a)\n(Current directory: /x)\nbash-$", None, id="only the state"),
        pytest.param(
            "«a\n(Open file: n/a)\n(Current directory: /x)\nbash-$ ls\nb»\n(Open file: n/a)\n(Current directory: /x)\nbash-$",
            None,
            id="an earlier state inside the output",
        ),
    ],
)
def test_splits(splits: Callable[..., None], marked: str, code: int | None) -> None:
    """The wrapper stays, the output is the body."""
    splits(swe_agent.split, marked, code)
