"""A row of cells does what a terminal does to one line."""

from __future__ import annotations

import pytest

from rules_engine.screen import are_alike, show


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        pytest.param("", "", id="nothing"),
        pytest.param("plain  ", "plain", id="blanks at the end do not show"),
        pytest.param("abc\rX", "Xbc", id="a carriage return only moves"),
        pytest.param("abc\r\r", "abc", id="carriage returns at the end overwrite nothing"),
        pytest.param("abc\b\bX", "aXc", id="a backspace only moves"),
        pytest.param("\b\bX", "X", id="the first column is the leftmost"),
        pytest.param("abc\r\x1b[KX", "X", id="erase to the end"),
        pytest.param("abc\x1b[K", "abc", id="erase nothing"),
        pytest.param("a\x1b[31mb\x1b[0mc\x1b[?25l\x1b[6n", "abc", id="styles, modes and questions take no cell"),
        pytest.param("\x1b]0;title\x07a\x1b]133;A\x1b\\b\x1b(Bc\x1b=", "abc", id="nor do titles and character sets"),
        pytest.param("a\x1b[2Kb", "a\x1b[2Kb", id="a code that is not followed stands for itself"),
        pytest.param("\x1b]8;;u\x07a", "\x1b]8;;u\x07a", id="so does a link"),
        pytest.param("a\x1b", "a\x1b", id="so does a code that is cut off"),
    ],
)
def test_shows_the_line_as_it_stands_in_the_end(line: str, shown: str) -> None:
    """Later characters take the cells of earlier ones."""
    assert show(line) == shown


@pytest.mark.parametrize(
    ("line", "other", "alike"),
    [
        pytest.param("a", "b", False, id="other characters"),
        pytest.param("\x1b[31mab", "a", False, id="one of them is missing"),
        pytest.param("ab\rX", "X", False, id="what stood behind shows"),
        pytest.param("a\x1b[2K", "a", False, id="a code that is not followed"),
        pytest.param("\x1b[31ma\x1b[0m", "a", True, id="only the style differs"),
        pytest.param("a\x1b[0m  ", "a", True, id="blanks at the end do not show"),
        pytest.param("ab\rXY", "XY", True, id="what stood behind is covered"),
    ],
)
@pytest.mark.parametrize("beside", ["", "plain", "moved\rM", "\x1b[1mbold "])
def test_lines_are_compared_as_they_stand_in_the_end(line: str, other: str, alike: bool, beside: str) -> None:
    """Whatever stands in the line beside, and however many are looked at together."""
    assert are_alike([beside, line, beside], [beside, other, beside]) is alike
