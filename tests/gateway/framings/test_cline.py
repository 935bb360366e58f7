"""Cline's arrays."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gateway.framings import cline


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[]", id="an empty array"),
        pytest.param('[{"query":"ls"}]', id="an array of something else"),
        pytest.param('[{"query":"ls","result":"a","success":true},3]', id="an item that is no object"),
        pytest.param('[{"query":"ls","result":"a","success":true}', id="cut off"),
        pytest.param(
            '[{"query":"ls","result":"a","success":true} {"query":"ls","result":"a","success":true}]',
            id="no comma between items",
        ),
        pytest.param('[{"query":"ls","result":"a","success":true}] done', id="text after the array"),
        pytest.param('[{"query":"ls","result":{"a":1},"success":true}]', id="a result that is no string"),
    ],
)
def test_declines(text: str) -> None:
    """A text that only resembles the form is left to other framings."""
    assert cline.split(text) is None


@pytest.mark.parametrize(
    ("marked", "code", "command"),
    [
        pytest.param('[{"query":"ls","result":"«a\\nb\\n»","success":true}]', 0, "ls", id="one command"),
        pytest.param(
            '[{"query":"a","result":"","success":true},{"query":"b","result":"«x»","success":true}]',
            0,
            "a\nb",
            id="two commands, one silent",
        ),
        pytest.param(
            '[{"query":"a","result":"«x»","error":"Command exited with code 7","success":false}]',
            7,
            "a",
            id="a failure",
        ),
        pytest.param(
            '[{"query":"a","result":"«x»","error":"no such tool","success":false}]',
            None,
            "a",
            id="a failure without a code",
        ),
        pytest.param(
            '[{"query":"a","result":"«x»","success":true} ,\n {"query":"b","result":"«y»","success":true} ]',
            0,
            "a\nb",
            id="spaces between the items",
        ),
    ],
)
def test_splits(splits: Callable[..., None], marked: str, code: int | None, command: str | None) -> None:
    """The wrapper stays, the output is the body."""
    splits(cline.split, marked, code, command)
