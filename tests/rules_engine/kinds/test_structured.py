"""JSON on one line: what counts as JSON, and that only its layout goes."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.kinds import structured

Shorten = Callable[..., str]

DATA = '{\n  "name": "a",\n  "list": [\n    1,\n    2\n  ]\n}\n'


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="an empty text"),
        pytest.param("   \n", id="blanks"),
        pytest.param('"text"\n', id="a string"),
        pytest.param('{"a": 1, "b": [2, 3]}', id="data on one line"),
        pytest.param('{"a": 1}\n{"a": 2}\n', id="a record on each line"),
        pytest.param("{\n  a: 1,\n  b: 2\n}", id="what only looks like JSON"),
        pytest.param('{\n  "a": 1,\n}', id="a comma too many"),
        pytest.param("done\n" + DATA, id="text before the data"),
        pytest.param('["' + "long " * 40 + '",\n 1]', id="hardly any layout"),
        pytest.param("[" * 100_000 + "\n" * 30_000 + "]" * 100_000, id="data too deep to parse"),
    ],
)
def test_leaves_alone(shorten: Shorten, text: str) -> None:
    """The whole text is one object or array over several lines, or nothing is done."""
    assert shorten(structured, text) == text


@pytest.mark.parametrize(
    ("command", "tool"), [("cat package.json", "bash"), ("jq . a.json | head -20; sed -n 1,9p b", "bash"), ("", "Read")]
)
def test_leaves_files_alone(shorten: Shorten, command: str, tool: str) -> None:
    """An edit of a file that was read must find its lines."""
    assert shorten(structured, DATA, command=command, tool=tool) == DATA


@pytest.mark.parametrize(
    ("text", "result"),
    [
        pytest.param(DATA, '{"name": "a","list": [1,2]}', id="two blanks"),
        pytest.param(DATA.replace("  ", "\t"), '{"name": "a","list": [1,2]}', id="tabs"),
        pytest.param(DATA.replace("\n", "\r\n"), '{"name": "a","list": [1,2]}', id="other line ends"),
        pytest.param("[\n\n  1 ,\n  [],\n  {}\n]", "[1 ,[],{}]", id="empty values, and a blank in a line"),
        pytest.param(
            '{\n    "b": 1.50,\n    "a": 1E400,\n    "b": -0\n}',
            '{"b": 1.50,"a": 1E400,"b": -0}',
            id="numbers, order, doubles",
        ),
        pytest.param(
            '[\n   "a \\n  b\\"\\\\",\n   "\\u00e9中  "\n]',
            '["a \\n  b\\"\\\\","\\u00e9中  "]',
            id="strings as they are",
        ),
    ],
)
def test_joins_the_lines(shorten: Shorten, text: str, result: str) -> None:
    """Line breaks and indents go; keys, numbers and strings stay to the letter."""
    assert shorten(structured, text, command="curl -s x.test") == result


@pytest.mark.parametrize(
    "result",
    [
        pytest.param('{"name": "a","list": [1,3]}', id="another number"),
        pytest.param('{"name": "a","list": [1, 2], "x": 1}', id="a key more"),
        pytest.param('{"list": [1,2],"name": "a"}', id="another order"),
        pytest.param('{"na me": "a","list": [1,2]}', id="a blank in a string"),
        pytest.param('{"name": "a","list": [1,2]', id="a bracket less"),
    ],
)
def test_refuses_other_data(result: str) -> None:
    """Both are parsed, and compared with their order and spelling."""
    assert not structured.verify(DATA, result, "")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES, st.sampled_from([1, 2, 4, "\t"]), st.booleans())
def test_any_data_stays_the_same(shorten: Shorten, value: object, indent: int | str, ascii_only: bool) -> None:
    """Whatever the values and the indent, the result parses to the same."""
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)

    assert repr(json.loads(shorten(structured, text))) == repr(json.loads(text))
