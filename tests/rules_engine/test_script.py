"""Scripts over a text: rendered, composed, traced."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.script import Edit, compose, joined, render, splice, text_digest, trace
from rules_engine.types import Script, ScriptError

TEXT = "0123456789"


def edits(size: int, cuts: list[int], words: list[str]) -> list[Edit]:
    """Edits at some places of a text of that size."""
    places = sorted(cut % (size + 1) for cut in cuts)
    pairs = zip(places[::2], places[1::2], strict=False)
    return [(start, end, (word,) if word else ()) for (start, end), word in zip(pairs, words, strict=False)]


CUTS = st.lists(st.integers(0, 999), max_size=8)
WORDS = st.lists(st.sampled_from(["", "X", "YY"]), min_size=4, max_size=4)


@pytest.mark.parametrize("script", [((0, 11),), ((-1, 3),), ((5, 4),)])
def test_a_slice_outside_the_text_is_an_error(script: Script) -> None:
    """It would silently give another text."""
    with pytest.raises(ScriptError):
        render(TEXT, script)


@pytest.mark.parametrize("wrong", [[(5, 4, ())], [(0, 5, ()), (4, 6, ())], [(0, 11, ())]])
def test_edits_that_overlap_are_an_error(wrong: list[Edit]) -> None:
    """They must be in order, apart, and inside the text."""
    with pytest.raises(ScriptError):
        splice(len(TEXT), wrong)


def test_joined_is_as_short_as_can_be() -> None:
    """Neighbouring slices and literals are one, empty ones none."""
    assert joined([(0, 0), (0, 2), (2, 4), "a", "", "b", (5, 6)]) == ((0, 4), "ab", (5, 6))


@given(CUTS, WORDS, CUTS, WORDS)
def test_composing_is_doing_one_after_the_other(
    first: list[int], a: list[str], second: list[int], b: list[str]
) -> None:
    """One script over the raw text gives what two steps give."""
    one = splice(len(TEXT), edits(len(TEXT), first, a))
    between = render(TEXT, one)
    two = splice(len(between), edits(len(between), second, b))

    assert render(TEXT, compose(one, two)) == render(between, two)


@given(CUTS, WORDS, st.integers(0, 20), st.integers(0, 20))
def test_a_trace_is_where_a_slice_comes_from(cuts: list[int], words: list[str], start: int, size: int) -> None:
    """Every character of the slice that is not literal lies in it, and it begins and ends with one."""
    script = splice(len(TEXT), edits(len(TEXT), cuts, words))
    result = render(TEXT, script)
    start = min(start, len(result))
    part = result[start : start + size]
    (span,) = trace(script, [(start, start + len(part))])
    own = [char for char in part if char in TEXT]

    assert (span is None) == (not own)
    if span:
        source = TEXT[span[0] : span[1]]
        assert source[0] == own[0]
        assert source[-1] == own[-1]
        assert "".join(char for char in source if char in own) == "".join(own)


def test_digests_differ_and_last() -> None:
    """A text keeps its name for ever: decisions are stored under it."""
    assert text_digest("") != text_digest(" ")
    assert text_digest("é\ud800") == text_digest("é\ud800")
    assert text_digest("abc") == "cf4ab791c62b8d2b2109c90275287816"
