"""JSON that somebody else wrote."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.json_text import JsonStyle, encode, read_list, read_object, style_of

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[]", id="an array"),
        pytest.param('{"a": 1 "b": 2}', id="no comma"),
        pytest.param('{"a": 1,}', id="a comma too many"),
        pytest.param('{"a" 1}', id="no colon"),
        pytest.param('{1: "a"}', id="a key that is no string"),
        pytest.param('{"a": 1, "a": 2}', id="a key twice"),
        pytest.param('{"a": nul}', id="no value"),
        pytest.param('{"a": "b\n"}', id="a raw line break"),
        pytest.param('{"a": ' + "[" * 100_000, id="too deep"),
    ],
)
def test_what_is_no_object_is_refused(text: str) -> None:
    """A text that a strict reader would refuse, or read in two ways, is not read."""
    assert read_object(text) is None


@pytest.mark.parametrize(
    ("text", "names"),
    [
        pytest.param("", [], id="nothing"),
        pytest.param('{"a": 1', ["a"], id="after a value"),
        pytest.param('{"a": 1,', ["a"], id="after a comma"),
        pytest.param('{"a": 1, "b": "c', ["a", "b"], id="in a string"),
        pytest.param('{"a": "b\\', ["a"], id="in an escape"),
        pytest.param('{"a": "b\\\\', ["a"], id="after an escaped backslash"),
        pytest.param('{"a": "b\\u00e', ["a"], id="in a long escape"),
    ],
)
def test_a_text_that_ends_too_early_gives_what_it_holds(text: str, names: list[str]) -> None:
    """An object that is cut off is told from one that is broken."""
    found = read_object(text)
    assert found is not None
    assert not found.whole
    assert list(found.members) == names


@given(st.dictionaries(st.text(max_size=5), values, max_size=4), st.sampled_from([None, 1]), st.booleans())
def test_members_stand_where_they_say(value: dict[str, object], indent: int | None, ascii_only: bool) -> None:
    """Each slice, read alone, gives the member's value."""
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    found = read_object(text)
    assert found is not None
    assert {key: member.value for key, member in found.members.items()} == value
    assert all(json.loads(text[m.start : m.end]) == m.value for m in found.members.values())
    assert found.end == len(text)


@given(st.lists(st.dictionaries(st.text(max_size=5), values, max_size=3), min_size=1, max_size=4))
def test_an_array_of_objects_is_read_whole(items: list[dict[str, object]]) -> None:
    """All items are found, in order."""
    found = read_list(json.dumps(items, indent=2))
    assert found is not None
    assert [{key: member.value for key, member in item.items()} for item in found] == items


@given(st.text(st.characters()), st.booleans())
def test_a_style_writes_what_it_was_found_in(text: str, ascii_only: bool) -> None:
    """What Python's encoder writes is written again to the character, and reads back."""
    written = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
    style = style_of(written, text)
    if style is None:
        # Raw lone surrogates cannot come over the wire.
        assert not ascii_only
        assert any("\ud800" <= char <= "\udfff" for char in text)
        return
    assert encode(text, style) == written


@given(st.text(st.characters()), st.booleans(), st.frozensets(st.sampled_from("<>&'/ é\u2028")))
def test_new_text_is_valid_json(text: str, ascii_only: bool, escaped: frozenset[str]) -> None:
    """Whatever is written in whatever style, a reader gets it back."""
    written = encode(text, JsonStyle(ascii_only=ascii_only, escaped=escaped))
    assert json.loads(f'"{written}"') == json.loads(json.dumps(text))
    assert not escaped & set(written)


@pytest.mark.parametrize(
    ("written", "text"),
    [
        pytest.param("a\\/b", "a/b", id="an escaped slash"),
        pytest.param("\\u000a", "\n", id="a long escape for a short one"),
        pytest.param("\\u001B", "\x1b", id="capital digits"),
        pytest.param("\\u0041", "A", id="an escaped letter"),
        pytest.param("\\u003c<", "<<", id="now so, now so"),
    ],
)
def test_a_hand_that_we_cannot_write_is_declined(written: str, text: str) -> None:
    """Where re-encoding would change a character, there is no style."""
    assert style_of(written, text) is None
