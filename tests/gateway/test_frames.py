"""Cutting a text into bodies and putting it back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.frames import Frame, cut, cut_strings, put
from gateway.json_text import read_object


def test_empty_spans_give_no_body() -> None:
    """A body holds at least one character."""
    assert cut("ab", (0, 0), (1, 2)).bodies == cut("ab", (1, 2)).bodies


def test_a_code_is_read_from_digits() -> None:
    """What a pattern found becomes a number, and nothing stays nothing."""
    assert cut("", exit_code="-1") == Frame(bodies=(), exit_code=-1)
    assert cut("", exit_code=None).exit_code is None


def test_each_body_needs_a_text() -> None:
    """One text too few or too many is an error of the caller's, not a guess."""
    frame = cut("ab", (0, 1), (1, 2))
    with pytest.raises(ValueError, match="zip"):
        put("ab", frame, ["x"])


@given(st.text(), st.lists(st.integers(0, 40), max_size=6).map(sorted), st.text())
def test_what_is_no_body_stays(text: str, cuts: list[int], new: str) -> None:
    """Old bodies give the old text; new ones change nothing outside their slices."""
    ends = [min(at, len(text)) for at in cuts]
    frame = cut(text, *zip(ends[::2], ends[1::2], strict=False))
    assert put(text, frame, [body.text for body in frame.bodies]) == text
    kept = len(text) - sum(body.end - body.start for body in frame.bodies)
    assert len(put(text, frame, [new] * len(frame.bodies))) == kept + len(new) * len(frame.bodies)


def test_a_string_that_cannot_be_put_back_spoils_all() -> None:
    """One string in a hand that we cannot write means that nothing of the text is touched."""
    text = '{"a": "x", "b": "\\/"}'
    found = read_object(text)
    assert found is not None
    assert cut_strings(text, found.members.values()) is None
    first = cut_strings(text, [found.members["a"]])
    assert first is not None
    assert put(text, Frame(bodies=first), ['"']) == '{"a": "\\"", "b": "\\/"}'
