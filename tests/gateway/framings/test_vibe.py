"""Excerpts of Mistral Vibe."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gateway.framings import find, vibe

HEAD = (
    "<system>The tool output is large. It was saved to the file system under /x/bash-1.json.\n"
    "Output size: 20000 characters</system>\n<truncated-output>\n"
)
TAIL = (
    "\n</truncated-output>\n<output-type>export interface Output {\nstdout: string\n}\n</output-type>\n"
    "<system>Remember: the rest is in /x/bash-1.json.</system>"
)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="an empty text"),
        pytest.param("<truncated-output>\na\n</truncated-output>\n", id="tags without a notice"),
        pytest.param(f"a\n{HEAD}a{TAIL}", id="a notice that does not come first"),
        pytest.param(f"{HEAD}a", id="an excerpt that does not end"),
    ],
)
def test_declines(text: str) -> None:
    """A text that only resembles the form is left to other framings."""
    assert vibe.split(text) is None


@pytest.mark.parametrize(
    ("excerpt", "code", "command"),
    [
        pytest.param(
            '{\n  "command": "make",\n  "returncode": 2,\n  "stderr": "",\n  "stdout": "«a\\n[... 9 characters omitted ...]\\nb»"\n}',
            2,
            "make",
            id="a report whose fields are cut",
        ),
        pytest.param('{\n  "content": "«     1\\tone\\n»",\n  "total_lines": 9\n}', None, None, id="a file"),
        pytest.param("«one\n[... 9 characters omitted ...]\ntwo»", None, None, id="plain text"),
        pytest.param('{\n  "command": "make"\n[... 9 characters omitted ...]\n}', None, None, id="a report cut itself"),
        pytest.param('[{"a": 1}]', None, None, id="a list"),
        pytest.param("«a</truncated-output>b»", None, None, id="the tag inside a line"),
    ],
)
def test_splits(splits: Callable[..., None], excerpt: str, code: int | None, command: str | None) -> None:
    """The excerpt alone is output; where its strings cannot be told it is left as it is."""
    splits(vibe.split, f"{HEAD}{excerpt}{TAIL}", code, command)
    found = find(f"{HEAD}{excerpt}{TAIL}".replace("«", "").replace("»", ""), "tool")
    assert found is not None
    assert found[0] == "vibe"
