"""gptme's blocks."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gateway.framings import gptme


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="an empty text"),
        pytest.param("Ran command: `ls`\n\nNo output\n", id="a command alone"),
        pytest.param("Ran command: `ls`\n\n```stdout\na\n", id="a block that does not end"),
        pytest.param("Ran command: `ls`\n\n````stdout\na\n```\n", id="fences of two lengths"),
        pytest.param("Ran command: `ls`\n\n```json\n{}\n```\n", id="another block"),
    ],
)
def test_declines(text: str) -> None:
    """A text that only resembles the form is left to other framings."""
    assert gptme.split(text) is None


@pytest.mark.parametrize(
    ("marked", "code", "command"),
    [
        pytest.param("Ran command: `ls`\n\n```stdout\n«a\nb»\n```\n\n", None, "ls", id="one stream"),
        pytest.param(
            "Ran allowlisted command: `ls x`\n\n```stderr\n«no x»\n```\n\nReturn code: 2", 2, "ls x", id="a failure"
        ),
        pytest.param(
            "Ran command: `x`\n\n```stdout\n«a»\n```\n\n```stderr\n«b»\n```\n\nReturn code: 1\n",
            1,
            "x",
            id="both streams",
        ),
        pytest.param(
            "Ran command:\n```bash\nfor i in 1; do\n  x\ndone\n```\n\n```stdout\n«a»\n```\n\n",
            None,
            None,
            id="a command of several lines",
        ),
        pytest.param("Ran command: `x`\n\n```stdout\n\n```\n\n", None, "x", id="an empty block"),
    ],
)
def test_splits(splits: Callable[..., None], marked: str, code: int | None, command: str | None) -> None:
    """The wrapper stays, the output is the body."""
    splits(gptme.split, marked, code, command)
