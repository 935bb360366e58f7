"""Spans: every value is found where it stands, whatever the JSON looks like."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.spans import MalformedJSON, elements, encode_string, members, replace, string

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
STYLES: list[dict[str, Any]] = [{}, {"indent": 2}, {"separators": (",", ":")}, {"ensure_ascii": False}]


@given(st.dictionaries(st.text(), JSON), st.sampled_from(STYLES))
def test_members_are_found_in_any_layout(value: dict[str, Any], style: dict[str, Any]) -> None:
    """The span of each member holds exactly its value."""
    data = json.dumps(value, **style).encode("utf-8", "surrogatepass")

    found, twice = members(data, 0, len(data))

    assert not twice
    assert {m.key: json.loads(data[m.start : m.end]) for m in found} == value


@given(st.lists(JSON), st.sampled_from(STYLES))
def test_elements_are_found_in_any_layout(value: list[Any], style: dict[str, Any]) -> None:
    """The span of each element holds exactly its value."""
    data = json.dumps(value, **style).encode()

    assert [json.loads(data[a:b]) for a, b in elements(data, 0, len(data))] == value


@given(st.dictionaries(st.text(min_size=1), JSON), st.sampled_from(STYLES))
def test_the_scanner_agrees_with_the_parser(value: dict[str, Any], style: dict[str, Any]) -> None:
    """A lone surrogate sends the text to the tolerant scanner, which finds the same members at the same places."""
    text = json.dumps(value, **style)
    plain = text.encode()
    tail = b', "x-torn": "\\ud800"}' if value else b'"x-torn": "\\ud800"}'
    torn = plain.rstrip()[:-1].rstrip() + tail

    found, _ = members(torn, 0, len(torn))

    wanted, _ = members(plain, 0, len(plain))
    assert [(m.key, m.start, m.end) for m in found[:-1]] == [(m.key, m.start, m.end) for m in wanted]
    assert found[-1].key == "x-torn"


def test_a_key_that_stands_twice_is_reported_with_both_places() -> None:
    """Duplicate keys are not collapsed."""
    data = b'{"a": 1, "b": [2], "a": {"c": "}"}}'

    found, twice = members(data, 0, len(data))

    assert twice
    assert [(m.key, data[m.start : m.end]) for m in found] == [("a", b"1"), ("b", b"[2]"), ("a", b'{"c": "}"}')]


@pytest.mark.parametrize(
    "data",
    [b"", b"[1]", b'{"a"}', b'{"a": }', b'{"a": "x', b'{"a": [1, }', b'{"a": 1,}', b'{"a": 1} x', b'{"a": "\\ud800"} x'],
    ids=["nothing", "a list", "no value", "an empty value", "an open string", "an open list", "a comma too many", "a tail",
         "a tail after a lone surrogate"],
)  # fmt: skip
def test_what_is_no_json_object_is_refused(data: bytes) -> None:
    """Malformed text raises, and never loops."""
    with pytest.raises(MalformedJSON):
        members(data, 0, len(data))


def test_numbers_and_escapes_keep_their_spelling() -> None:
    """What is not replaced is never written anew."""
    data = b'{"n": 1.0, "big": 123456789012345678901234567890, "e": 1e2, "s": "\\u00e9", "t": "old"}'
    found, _ = members(data, 0, len(data))
    t = found[-1]

    out = replace(data, [(t.start, t.end, encode_string("new"))])

    assert out == data.replace(b'"old"', b'"new"')


@pytest.mark.parametrize(
    "literal", [b'"\\ud800"', b'"\xff"', b"7", b'"open'], ids=["lone surrogate", "no UTF-8", "a number", "open"]
)
def test_what_cannot_be_read_as_a_string_is_none(literal: bytes) -> None:
    """The caller leaves such a text alone."""
    assert string(literal, 0, len(literal)) is None


def test_deeply_nested_values_are_stepped_over() -> None:
    """Depth costs no recursion."""
    depth = 100_000
    data = b'{"torn": "\\ud800", "deep": ' + b"[" * depth + b"]" * depth + b', "end": 1}'

    found, _ = members(data, 0, len(data))

    assert [m.key for m in found] == ["torn", "deep", "end"]
