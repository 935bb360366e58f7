"""Padding before line numbers: which numbers are line numbers, and how padding and arrows are found again."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.kinds import gutter

Shorten = Callable[..., str]


def listing(numbers: range, width: int = 6, mark: str = "\t", line: str = "  x = 1") -> str:
    """Numbered lines, right-aligned."""
    return "\n".join(f"{number:>{width}}{mark}{line}" for number in numbers)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="an empty text"),
        pytest.param("a\n\nb\n", id="lines without numbers"),
        pytest.param(listing(range(1, 9), width=1), id="numbers without padding"),
        pytest.param(listing(range(1, 3)), id="two lines"),
        pytest.param("     3\ta\n     2\tb\n     1\tc", id="numbers that fall"),
        pytest.param("     1\ta\n     1\tb\n     1\tc", id="equal numbers, as counts have them"),
        pytest.param("     1\ta\n    2\tb\n   3\tc", id="numbers that are not aligned"),
        pytest.param("     1\ta\nb\n     2\tc\nd\n     3\te", id="text between the lines"),
        pytest.param("     1\ta\n     2→b\n     3\tc", id="marks that differ"),
        pytest.param(listing(range(1, 9), width=4, mark=" | "), id="a table with its rules"),
        pytest.param(listing(range(8, 14), width=4, mark="| "), id="a snippet that a compiler shows"),
        pytest.param("\n".join(f"{n:>4}: x" for n in range(0, 60, 2)), id="every second number, with a colon"),
        pytest.param("\n".join(f"{n:>6} file{n}" for n in range(1, 20)), id="a number and a blank"),
        pytest.param("\n".join(f"{n:>10}\tx" for n in range(10**9, 10**9 + 5)), id="numbers too long for lines"),
    ],
)
def test_leaves_alone(shorten: Shorten, text: str) -> None:
    """Only numbers that go up, aligned, before one mark, are taken for line numbers."""
    assert shorten(gutter, text) == text


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(listing(range(1, 12)), id="cat -n"),
        pytest.param(listing(range(1001, 1012), mark="→"), id="an arrow with too little padding to make up for it"),
        pytest.param(listing(range(1, 12)) + "\n", id="a line end at the end"),
        pytest.param(listing(range(997, 1003), width=7), id="numbers that grow a digit"),
        pytest.param(listing(range(1, 40, 4)), id="numbers picked by a filter"),
        pytest.param(listing(range(1, 5)) + "\n--\n" + listing(range(90, 95)), id="two parts of a file"),
        pytest.param(
            listing(range(1, 5)) + "\n" + listing(range(1, 6), width=3, mark="→"), id="two files of two tools"
        ),
        pytest.param("head\n" + listing(range(1, 5)) + "\ntail", id="text around"),
        pytest.param("     1\ta\n\n     2\tb\n      \n     3\tc", id="blank lines that are not numbered"),
        pytest.param(listing(range(1, 5), line=""), id="empty lines"),
        pytest.param(listing(range(1, 5), line="     7\tx"), id="lines that begin as their labels do"),
        pytest.param(listing(range(1, 5), line="中😀\r"), id="other writing, other line ends"),
        pytest.param(listing(range(1, 20), width=4, mark=": "), id="a colon, over many lines"),
        pytest.param(listing(range(80, 99), width=4, mark="| "), id="a bar, over many lines"),
    ],
)
def test_takes_the_padding_and_nothing_else(shorten: Shorten, text: str) -> None:
    """Numbers, marks and lines stay as they are, but for arrows with much padding."""
    unpadded = [line.lstrip(" ") if line.strip() else line for line in text.split("\n")]

    assert shorten(gutter, text) == "\n".join(unpadded)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        pytest.param(listing(range(1, 12), mark="→"), listing(range(1, 12), width=1), id="a listing"),
        pytest.param(
            listing(range(1, 5), mark="→", line=" → x"), listing(range(1, 5), 1, line=" → x"), id="one in a line"
        ),
        pytest.param("    9→a\n   10→b\n  100→c", "9\ta\n10\tb\n100→c", id="as long as there is room"),
        pytest.param("    1→a\n\n    2→b\n  \n    3→c", "1\ta\n\n2\tb\n  \n3\tc", id="blank lines without number"),
    ],
)
def test_an_arrow_becomes_a_tab(shorten: Shorten, text: str, result: str) -> None:
    """Where three blanks before the number go with it."""
    assert shorten(gutter, text) == result


@pytest.mark.parametrize(
    ("text", "result"),
    [
        pytest.param(listing(range(1, 4), width=2), listing(range(1, 4), width=2), id="one blank before each"),
        pytest.param(listing(range(9, 12)), " 9\t  x = 1\n 10\t  x = 1\n 11\t  x = 1", id="more blanks"),
        pytest.param(listing(range(98, 101), 7, "→"), " 98\t  x = 1\n 99\t  x = 1\n 100\t  x = 1", id="an arrow"),
        pytest.param(
            listing(range(99, 102), 6, "→"), " 99\t  x = 1\n 100→  x = 1\n 101→  x = 1", id="no room for a tab"
        ),
    ],
)
def test_a_blank_stays_in_a_json_string(shorten: Shorten, text: str, result: str) -> None:
    """There a number would stand right behind the letter of the escaped line end."""
    assert shorten(gutter, text, escaped=True) == result


def test_a_line_that_lost_its_padding_is_left_out(shorten: Shorten) -> None:
    """Agents strip a result, so that the first number stands at the margin."""
    assert shorten(gutter, "9\ta\n    10\tb\n    11\tc\n    12\td") == "9\ta\n10\tb\n11\tc\n12\td"


@pytest.mark.parametrize(
    ("result", "note"),
    [
        ("1\ta\n2\tb\n3\tc", "0-2:5"),
        ("1\ta\n2\tb\n4\tc", "0-2:6"),
        ("1\ta\n2\tb\n3\tc", "0-1:6"),
        ("1\ta\n2\tb\n3\tc", "0-2:6→"),
    ],
)
def test_refuses_what_is_not_the_same(result: str, note: str) -> None:
    """Another width, another number or another place does not give the text back."""
    assert not gutter.verify("     1\ta\n     2\tb\n     3\tc", result, note)


@st.composite
def files(draw: st.DrawFn) -> str:
    """Listings of several widths, one after the other, with lines among them that only look so."""
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 4))):
        first, width = draw(st.sampled_from([1, 8, 97, 998])), draw(st.sampled_from([1, 3, 6]))
        mark = draw(st.sampled_from(["→", "\t", ":", "|"]))
        for step in range(draw(st.integers(1, 15))):
            lines.append(f"{first + step:>{width}}{mark}{draw(st.sampled_from(['', 'x', '   4→y', '7:']))}")
            lines += draw(st.sampled_from([[], [], [], [""], ["  "], ["12→"], ["  5→"], ["x"]]))
    return "\n".join(lines)


@given(files(), st.booleans())
def test_any_listing_comes_back(shorten: Shorten, text: str, escaped: bool) -> None:
    """Whatever stands around and between, the note leads back to the text."""
    shorten(gutter, text, escaped=escaped)
