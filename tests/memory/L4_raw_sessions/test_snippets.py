"""Snippets: where most of the words stand, and short."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.L4_raw_sessions.snippets import WIDTH, snippet

FILLER = "lorem ipsum " * 100


@pytest.mark.parametrize(
    ("text", "asked", "expected"),
    [
        pytest.param("", "word", "", id="nothing of nothing"),
        pytest.param("a short text", "absent", "a short text", id="a short text is given whole"),
        pytest.param("two\n\n lines", "two", "two lines", id="lines become one"),
        pytest.param("İstanbul " + "x" * 9, "x", "İstanbul xxxxxxxxx", id="lower case that is longer"),
    ],
)
def test_short_texts(text: str, asked: str, expected: str) -> None:
    """There is nothing to choose from."""
    assert snippet(text, asked) == expected


def test_it_is_where_most_words_stand() -> None:
    """Not where the first of them stands alone."""
    text = f"alpha {FILLER} alpha beta {FILLER}"
    found = snippet(text, "alpha beta")
    assert "alpha beta" in found
    assert found.startswith("… ")
    assert found.endswith(" …")


@given(st.text(max_size=2000), st.text(max_size=20))
def test_it_is_never_long(text: str, asked: str) -> None:
    """Whatever is looked for."""
    assert len(snippet(text, asked)) <= WIDTH + 4
