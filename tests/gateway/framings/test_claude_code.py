"""Claude Code's tags."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gateway.framings import claude_code


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="an empty text"),
        pytest.param("a\nb", id="plain output"),
        pytest.param("Exit code 0\na", id="a success is never stated"),
        pytest.param("Exit code 1 is bad", id="a code in a sentence"),
        pytest.param(
            "<persisted-output>\nOutput too large (9KB). Full output saved to: /x\n\nPreview (first 2KB):\na",
            id="a preview without its end",
        ),
        pytest.param(
            "<retrieval_status>success</retrieval_status>\n\n<output>\na", id="a background run without its end"
        ),
        pytest.param("a\n<system-reminder>\nb\n</system-reminder>\nc", id="a reminder in the middle"),
        pytest.param("a <system-reminder>b</system-reminder>", id="a reminder that does not begin a line"),
        pytest.param("a\n</system-reminder>", id="an end without a beginning"),
    ],
)
def test_declines(text: str) -> None:
    """A text that only resembles the form is left to other framings."""
    assert claude_code.split(text) is None


@pytest.mark.parametrize(
    ("marked", "code"),
    [
        pytest.param("Exit code 2\n«a\nb»", 2, id="a failure"),
        pytest.param(
            "<persisted-output>\nOutput too large (71KB). Full output saved to: /x\n\nPreview (first 2KB):\n«a\nb»\n...\n</persisted-output>",
            None,
            id="a long output",
        ),
        pytest.param(
            "<retrieval_status>success</retrieval_status>\n\n<task_id>b1</task_id>\n\n<status>completed</status>\n\n<exit_code>1</exit_code>\n\n<output>\n«a\n»</output>",
            1,
            id="a background run",
        ),
        pytest.param(
            "<retrieval_status>timeout</retrieval_status>\n\n<task_id>b1</task_id>\n\n<output>\n«a»</output>",
            None,
            id="one that runs on",
        ),
        pytest.param(
            "«1\ta\n2\tb»\n\n<system-reminder>\nc\n</system-reminder>\n\n<system-reminder>\nd\n</system-reminder>\n",
            None,
            id="reminders at the end",
        ),
        pytest.param("<system-reminder>Empty file.</system-reminder>", None, id="nothing but a reminder"),
        pytest.param("Exit code 1\n«a»\n<system-reminder>b</system-reminder>", 1, id="a failure with a reminder"),
    ],
)
def test_splits(splits: Callable[..., None], marked: str, code: int | None) -> None:
    """The wrapper stays, the output is the body."""
    splits(claude_code.split, marked, code)
