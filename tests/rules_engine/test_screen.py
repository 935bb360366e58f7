"""A row of cells does what a terminal does to one line."""

from __future__ import annotations

import pytest

from rules_engine.screen import show


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
