"""Line numbers of two listings of one file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine import numbering
from rules_engine.lines import bare


def shift(here: str, there: str) -> int | None:
    """The shift between two lines of one core."""
    (core,) = bare([here])
    return numbering.shift_between(here, there, core)


@pytest.mark.parametrize(
    ("here", "there"),
    [
        pytest.param("12\tx", "x", id="numbered only here"),
        pytest.param("x", "12\tx", id="numbered only there"),
        pytest.param("12\tx", "13:x", id="another separator"),
        pytest.param("  12\tx", " 13\tx", id="another width"),
        pytest.param(" 9|x", "12|x", id="padded only here"),
        pytest.param("012\tx", "13\tx", id="a number with a zero before it"),
    ],
)
def test_no_shift(here: str, there: str) -> None:
    """What cannot be counted back exactly is no shift."""
    assert shift(here, there) is None


@pytest.mark.parametrize(
    ("here", "there", "by"),
    [
        pytest.param("x", "x", 0, id="no numbers, equal lines"),
        pytest.param("12\tx", "12\tx", 0, id="equal numbers"),
        pytest.param("12\tx", "9\tx", 3, id="higher, and longer"),
        pytest.param("9→x", "12→x", -3, id="lower"),
        pytest.param("  9|x", " 12|x", -3, id="padded to one width"),
        pytest.param("12: ", "2: ", 10, id="empty lines"),
    ],
)
def test_shift(here: str, there: str, by: int) -> None:
    """The number here less the number there; adding it gives the line here."""
    assert shift(here, there) == by
    assert numbering.renumber([there], by) == [here]


def test_lines_without_numbers_cannot_be_shifted() -> None:
    """They can only stand as they are."""
    assert numbering.renumber(["x"], 0) == ["x"]
    assert numbering.renumber(["12\tx", "x"], 1) is None


@given(
    st.integers(1, 10**5), st.integers(0, 10**5), st.sampled_from(["\t", "→", ":", ": ", "|", "| "]), st.text("ab 1:|")
)
def test_shifts_are_exact(number: int, by: int, mark: str, text: str) -> None:
    """Renumbering is the inverse of what was found, or nothing was found."""
    here, there = f"{number + by}{mark}{text}", f"{number}{mark}{text}"
    found = shift(here, there)

    assert found is None or numbering.renumber([there], found) == [here]
