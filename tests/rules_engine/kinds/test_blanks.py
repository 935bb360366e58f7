"""Blank lines in listings of files: which are told by the lines around, and how their numbers are found again."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.kinds import blanks

Shorten = Callable[..., str]
CAT = "cat -n a.py"


def listing(*lines: str, first: int = 1, mark: str = "\t") -> str:
    """The lines, numbered."""
    return "\n".join(f"{number}{mark}{line}" for number, line in enumerate(lines, first))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="an empty text"),
        pytest.param("a\n\nb\n", id="lines without numbers"),
        pytest.param(listing("a", "b", "c"), id="no blank line"),
        pytest.param(listing("", "b", ""), id="at the ends, where nothing tells where they are"),
        pytest.param(listing("a", "", "b"), id="on the outermost level, where agents name what they part"),
        pytest.param(listing(" a", "", "", "b"), id="two of them"),
        pytest.param(listing("a", "", " b", first=9), id="a round number, which agents quote"),
        pytest.param(listing("    }", "", " b"), id="behind the end of a block, where agents begin to read"),
        pytest.param(listing(" ]),", "", " b"), id="behind the end of several"),
        pytest.param(listing("a", " ", " b"), id="a line of blanks"),
        pytest.param(listing("a", "\r", " b"), id="other line ends"),
        pytest.param(listing("a", "", " b", mark=": "), id="another sort of numbers"),
        pytest.param("1\ta\n2\t\n4\t b", id="a gap after it"),
        pytest.param("1\ta\n3\t\n4\t b", id="a gap before it"),
        pytest.param("1\ta\n2→\n3\t b", id="marks that differ"),
        pytest.param("1\ta\n02\t\n3\t b", id="a number with a zero before it"),
        pytest.param(listing("a", "", " b", first=10**9), id="numbers too long for lines"),
    ],
)
def test_leaves_alone(shorten: Shorten, text: str) -> None:
    """Only a number that the lines before and after it tell may go."""
    assert shorten(blanks, text, CAT) == text


@pytest.mark.parametrize(
    ("text", "result"),
    [
        pytest.param(listing("a", "", " b"), "1\ta\n\n3\t b", id="one blank line"),
        pytest.param(listing("a", "", "\tb"), "1\ta\n\n3\t\tb", id="before a tab"),
        pytest.param(listing("a", "", " b", mark="→"), "1→a\n\n3→ b", id="an arrow"),
        pytest.param(listing("}", "", "", " b"), "1\t}\n2\t\n\n4\t b", id="the second behind a block"),
        pytest.param(listing("f(a, {})", "", " b"), "1\tf(a, {})\n\n3\t b", id="behind more than an end"),
        pytest.param(listing("a", "", "", " b"), "1\ta\n\n\n4\t b", id="two"),
        pytest.param(listing("a", *[""] * 4, " b", first=7), "7\ta\n\n\n10\t\n\n12\t b", id="around a round number"),
        pytest.param(
            "head\n\n" + listing("a", "", " b") + "\n\ntail", "head\n\n1\ta\n\n3\t b\n\ntail", id="text around"
        ),
    ],
)
def test_leaves_blank_lines_blank(shorten: Shorten, text: str, result: str) -> None:
    """Everything else stays."""
    assert shorten(blanks, text, CAT) == result


def test_only_in_listings_of_files(shorten: Shorten) -> None:
    """Elsewhere a number may count something, and in a JSON string it would stand behind an escaped line end."""
    text = listing("a", "", " b")

    assert shorten(blanks, text, "make") == text
    assert shorten(blanks, text, CAT, escaped=True) == text


@pytest.mark.parametrize("result", ["1\ta\n\n4\tb", "1\ta\n3\tb", "1\ta\n\n\n3\tb", "1→a\n\n3\tb", "1\ta\n\n"])
def test_refuses_what_is_not_the_same(result: str) -> None:
    """A blank line too many or too few does not give the text back."""
    assert not blanks.verify(listing("a", "", "b"), result, "")


def test_blank_lines_that_had_no_number_are_noticed() -> None:
    """What stood without a number between numbers that leave room for it is not what the inverse gives."""
    assert not blanks.verify("1\ta\n\n3\tb\n4\t\n5\tc", "1\ta\n\n3\tb\n\n5\tc", "")


LINES = st.lists(st.sampled_from(["", "", "x", " ", " y", "}", "7\ty", "4→"]), max_size=30)


@given(LINES, st.sampled_from([1, 8, 98]), st.sampled_from(["\t", "→"]), LINES)
def test_any_listing_comes_back(shorten: Shorten, lines: list[str], first: int, mark: str, after: list[str]) -> None:
    """Whatever stands in it and behind it."""
    shorten(blanks, listing(*lines, first=first, mark=mark) + "\nend\n" + "\n".join(after), CAT)
