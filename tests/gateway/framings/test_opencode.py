"""OpenCode's files."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gateway.framings import opencode


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="an empty text"),
        pytest.param("<path>/x</path>\n", id="a path alone"),
        pytest.param("<path>/x</path>\n<type>file</type>\n<content>1: a", id="no closing tag"),
        pytest.param("<file>\n00001| a\n</files>", id="another closing tag"),
    ],
)
def test_declines(text: str) -> None:
    """A text that only resembles the form is left to other framings."""
    assert opencode.split(text) is None


@pytest.mark.parametrize(
    ("marked", "code"),
    [
        pytest.param(
            "<path>/x</path>\n<type>file</type>\n<content>«1: a\n2: b\n\n(End of file - total 2 lines)\n»</content>",
            None,
            id="a file",
        ),
        pytest.param("<path>/x</path>\n<type>directory</type>\n<entries>\n«a\nb\n»</entries>", None, id="a directory"),
        pytest.param("<file>\n«00001| a\n»</file>", None, id="the older form"),
        pytest.param("<file>\n</file>", None, id="an empty file"),
    ],
)
def test_splits(splits: Callable[..., None], marked: str, code: int | None) -> None:
    """The wrapper stays, the output is the body."""
    splits(opencode.split, marked, code)
