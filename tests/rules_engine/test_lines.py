"""The line index of a forwarded text."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine import lines, marks
from rules_engine.script import text_digest


@pytest.mark.parametrize("line", ["", "      ", "}", "else:", "  pass ", "\t\t\t\t\t\t\t"])
def test_a_line_that_says_nothing(line: str) -> None:
    """It stands everywhere, so that finding it is an accident."""
    assert not lines.is_telling(line)


def test_a_line_that_says_something() -> None:
    """From six characters on."""
    assert lines.is_telling("return x")


@pytest.mark.parametrize(
    ("line", "core"),
    [
        pytest.param("return x", "return x", id="no number"),
        pytest.param("12 return x", "12 return x", id="a number that is text"),
        pytest.param("12:34:56 started", "34:56 started", id="a time, taken for a number; both sides agree on that"),
        pytest.param("12\treturn x", "return x", id="a tab"),
        pytest.param("   12→return x", "return x", id="an arrow, padded"),
        pytest.param("12: return x", "return x", id="a colon and a blank"),
        pytest.param("12|", "", id="an empty line with its number"),
    ],
)
def test_numbers_are_left_away(line: str, core: str) -> None:
    """The line number before a line, its separator included."""
    assert lines.bare([line]) == (core,)


def test_an_index_knows_where_lines_stand() -> None:
    """All places of a line; marks stand nowhere."""
    mark = marks.omitted(3, "abcdef")
    text = f"first line\n}}\nfirst line\n{mark}\nlast line"
    found = lines.index("key", text)

    assert (found.key, found.digest) == ("key", text_digest(text))
    assert found.places == {"first line": (0, 2), "last line": (4,)}
    assert found.hidden == {3: 3}
    assert found.lines[0] == "first line"


def test_lines_are_counted_as_the_agent_sent_them() -> None:
    """What a pointer hides counts."""
    text = "\n".join(["one line", '[9 lines as shown above, "a" to "b": echo recall:abcdef]', "another line"])
    found = lines.index("key", text, "call_1", first=3, count=11)

    assert (found.name, found.number(0), found.number(2)) == ("call_1", 3, 13)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        pytest.param("one line  [x7]", 7, id="repeats are joined"),
        pytest.param("one line\n[9 lines omitted: echo recall:abcdef]", 10, id="lines are left out"),
    ],
)
def test_a_text_whose_lines_cannot_be_counted_is_not_named(text: str, count: int) -> None:
    """A number would lead to another line."""
    assert lines.index("key", text, "call_1", count=count).name == ""


def test_common_lines_have_few_places() -> None:
    """So that looking for a line costs little, whatever the text."""
    assert len(lines.index("key", "the same line\n" * 999).places["the same line"]) == lines.COMMON


@given(st.text(alphabet="ab\n"))
def test_offsets_find_each_line(text: str) -> None:
    """Each line is the slice between two of them, without its line end."""
    parts = text.split("\n")
    offsets = lines.starts(parts)

    assert [text[start : end - 1] for start, end in pairwise(offsets)] == parts
