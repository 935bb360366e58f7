"""Labels of Gemini CLI and Qwen Code."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gateway.framings import gemini


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="an empty text"),
        pytest.param("Command: ls\nDirectory: /x\n", id="a command alone"),
        pytest.param("Command: ls\nDirectory: /x\nOutput: a\nExit Code: 0\nSignal: 0", id="no group at the end"),
        pytest.param("Command: ls\nDirectory: /x\nOutput: a\nProcess Group PGID: 3\nand more", id="text after the end"),
        pytest.param("Output is good\nProcess Group PGID: 3", id="the word output in a sentence"),
    ],
)
def test_declines(text: str) -> None:
    """A text that only resembles the form is left to other framings."""
    assert gemini.split(text) is None


@pytest.mark.parametrize(
    ("marked", "code", "command"),
    [
        pytest.param(
            "Command: ls\nDirectory: (root)\nOutput: «a\nb»\nError: (none)\nExit Code: 1\nSignal: 0\nProcess Group PGID: 3",
            1,
            "ls",
            id="Qwen Code",
        ),
        pytest.param(
            "Command: cat <<E\nx\nE\nDirectory: /x\nOutput: «a»\nError: (none)\nExit Code: 0\nSignal: (none)\nBackground PIDs: (none)\nProcess Group PGID: 3",
            0,
            "cat <<E\nx\nE",
            id="a command of several lines",
        ),
        pytest.param(
            "Command: true\nDirectory: (root)\nOutput: (empty)\nError: (none)\nExit Code: 0\nSignal: 0\nProcess Group PGID: 3",
            0,
            "true",
            id="nothing printed",
        ),
        pytest.param(
            "Command: x\nDirectory: /x\nStdout: «a»\nStderr: «b»\nError: «c»\nExit Code: (none)\nSignal: 9\nProcess Group PGID: 3",
            None,
            "x",
            id="three streams",
        ),
        pytest.param(
            "<untrusted_context>\nOutput: «a»\nExit Code: 1\nProcess Group PGID: 3\n</untrusted_context>",
            1,
            None,
            id="Gemini CLI, untrusted",
        ),
        pytest.param(
            "<untrusted_context>\nOutput: «a»\nProcess Group PGID: 3\n</untrusted_context>",
            None,
            None,
            id="no code stated",
        ),
        pytest.param(
            "Output too large. Showing first 8 characters. For full output see: /x\n<untrusted_context>\nOutput: «a\n...\nb»\nProcess Group PGID: 3\n</untrusted_context>",
            None,
            None,
            id="too long, Gemini CLI",
        ),
        pytest.param(
            "Tool output was too large and has been truncated.\nThe full output is at: /x\n\nTruncated part of the output:\nCommand: ls\nDirectory: /x\nOutput: «a»\nError: (none)\nExit Code: 0\nSignal: 0\nProcess Group PGID: 3",
            0,
            "ls",
            id="too long, Qwen Code",
        ),
    ],
)
def test_splits(splits: Callable[..., None], marked: str, code: int | None, command: str | None) -> None:
    """The wrapper stays, the output is the body."""
    splits(gemini.split, marked, code, command)
