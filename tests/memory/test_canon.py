"""Canonical JSON and names by content."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.canon import canonical, digest, message_hash

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(VALUES)
def test_canonical_means_the_same(value: object) -> None:
    """Nothing is lost: the canonical text parses to the value."""
    assert json.loads(canonical(value)) == value


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"a":1,"b":2}', '{"b":2,"a":1}'),
        ('{"a": [1, 2]}', '{"a":[1,2]}'),
        ('"\\u00e9"', '"é"'),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
    ],
    ids=["order of keys", "blanks", "escapes", "large numbers"],
)
def test_forms_of_one_value(one: str, other: str) -> None:
    """All JSON texts of one value have one canonical text."""
    assert canonical(json.loads(one)) == canonical(json.loads(other))


def test_lone_surrogate() -> None:
    """A lone surrogate has a canonical text like anything else."""
    assert canonical("\ud800") == b'"\\ud800"'


@given(st.binary(), st.binary())
def test_digest_tells_contents_apart(one: bytes, other: bytes) -> None:
    """Equal bytes have equal digests, others have others; the algorithm is told."""
    assert (digest(one) == digest(other)) == (one == other)
    assert digest(one).startswith("b2:")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((None, b"x"), ("b2:0", b"x")),
        (("b2:0", b"x"), ("b2:1", b"x")),
        (("b2:0", b"x"), ("b2:0", b"y")),
        ((None, b"b2:0\nx"), ("b2:0", b"x")),
    ],
    ids=["first and later", "other parent", "other content", "a parent in the content"],
)
def test_message_hash_covers_parent_and_content(one: tuple[str | None, bytes], other: tuple[str | None, bytes]) -> None:
    """Messages are one only if they and all before them are equal."""
    assert message_hash(*one) == message_hash(*one)
    assert message_hash(*one) != message_hash(*other)
