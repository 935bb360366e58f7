"""Cache marks: found where the provider looks for them, and nowhere else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gateway.recording.marks import BRIEF, HOUR, HeadMarks, Marked, of_head, of_message, reach

MARK = {"cache_control": {"type": "ephemeral"}}
LONG = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}


def text(**more: Any) -> dict[str, Any]:
    """A block."""
    return {"type": "text", "text": "x", **more}


@pytest.mark.parametrize(
    ("content", "seconds"),
    [
        pytest.param("go on", 0, id="a string"),
        pytest.param('"cache_control"', 0, id="a string that says it"),
        pytest.param([text()], 0, id="without"),
        pytest.param([text(**MARK)], BRIEF, id="with a mark"),
        pytest.param([text(cache_control={"type": "ephemeral", "ttl": "5m"})], BRIEF, id="with the usual time"),
        pytest.param([text(**LONG), text(**MARK)], HOUR, id="the longest counts"),
        pytest.param([text(cache_control=None)], 0, id="null"),
        pytest.param([{"type": "tool_result", "content": [text(**MARK)]}], BRIEF, id="within a result"),
        pytest.param([{"type": "tool_use", "input": MARK}], 0, id="what a tool is given"),
        pytest.param([7, None, [text()]], 0, id="no blocks"),
    ],
)
def test_of_message(content: Any, seconds: int) -> None:
    """A message asks for as long as the longest of the marks on its blocks."""
    assert of_message(json.dumps({"role": "user", "content": content}).encode()) == seconds


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        pytest.param({"system": "x"}, (0, 0), id="without"),
        pytest.param({"system": [text(**MARK)]}, (BRIEF, 0), id="on the system"),
        pytest.param({"tools": [{"name": "a", **LONG}], "system": [text(**MARK)]}, (HOUR, 0), id="on a tool"),
        pytest.param({"tools": [{"name": "a", "input_schema": {"properties": MARK}}]}, (0, 0), id="within a schema"),
        pytest.param(MARK, (0, BRIEF), id="automatic"),
        pytest.param(LONG | {"system": [text(**MARK)]}, (BRIEF, HOUR), id="automatic, for an hour"),
    ],
)
def test_of_head(head: dict[str, Any], expected: tuple[int, int]) -> None:
    """Marks on the system and the tools keep these; one beside them keeps the last message, whichever that is."""
    found = of_head(json.dumps(head | {"messages": []}).encode())
    assert found == HeadMarks(itself=expected[0], last=expected[1])


@pytest.mark.parametrize("content", [b'{"cache_control"', b'["cache_control"]', b'"cache_control"\xff', b""])
def test_what_does_not_read_has_no_marks(content: bytes) -> None:
    """And fails nothing."""
    assert of_message(content) == 0
    assert of_head(content) == HeadMarks(itself=0, last=0)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        ([], (0, 0)),
        ([0, 0], (0, 0)),
        ([BRIEF, 0], (1, 0)),
        ([HOUR, BRIEF, 0], (2, 1)),
        ([0, BRIEF, HOUR], (3, 3)),
    ],
)
def test_reach(seconds: list[int], expected: tuple[int, int]) -> None:
    """A prompt is kept up to the last mark."""
    assert reach(seconds) == Marked(all=expected[0], hour=expected[1])
