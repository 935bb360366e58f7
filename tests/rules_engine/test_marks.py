"""Marks: written, read back, and told from text that only looks like one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine import marks
from rules_engine.marks import Mark

ID = "7f3a9c"


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("", id="nothing"),
        pytest.param("214 lines omitted: echo recall:7f3a9c", id="without brackets"),
        pytest.param(" [214 lines omitted: echo recall:7f3a9c]", id="indented"),
        pytest.param("[214 lines omitted: echo recall:7f3a9c] ", id="with a blank after it"),
        pytest.param("[214 lines omitted: echo recall:7f3]", id="an id that is too short"),
        pytest.param("[214 lines omitted: echo recall:7F3A9C]", id="an id in capitals"),
        pytest.param("[214 rows omitted: echo recall:7f3a9c]", id="another wording"),
        pytest.param("[many lines omitted: echo recall:7f3a9c]", id="no count"),
        pytest.param('[8 lines as shown above, "a": echo recall:7f3a9c]', id="a pointer with one quote"),
        pytest.param(
            f'[8 lines as shown above, "{"x" * 31}" to "b": echo recall:7f3a9c]', id="a quote that is too long"
        ),
        pytest.param("[... 214 lines truncated ...]", id="another tool's mark"),
    ],
)
def test_no_mark(line: str) -> None:
    """Only the exact wording is a mark."""
    assert marks.parse(line) is None
    assert not marks.is_mark(line)
    assert marks.find_ids(line) == []


@pytest.mark.parametrize(
    ("line", "mark"),
    [
        pytest.param("[214 lines omitted: echo recall:7f3a9c]", Mark("omitted", 214, ID), id="many lines"),
        pytest.param("[1 line omitted: echo recall:7f3a9c]", Mark("omitted", 1, ID), id="one line"),
        pytest.param(
            '[88 lines as shown above, "first" to "last": echo recall:7f3a9c]', Mark("shown", 88, ID), id="a pointer"
        ),
        pytest.param(
            '[88 lines identical to lines 12-99 of call-7, "1\tfirst" to "88\tlast": echo recall:7f3a9c]',
            Mark("shown", 88, ID),
            id="a pointer to other line numbers",
        ),
        pytest.param(
            '[8 lines as shown above, "a" to "b"" to "c"]": echo recall:7f3a9c]',
            Mark("shown", 8, ID),
            id="quotes in quotes",
        ),
    ],
)
def test_reads(line: str, mark: Mark) -> None:
    """The two marks, in all their forms."""
    assert marks.parse(line) == mark
    assert marks.find_ids(f"a\n{line}\nb") == [ID]
    assert marks.names(line, {ID})
    assert not marks.names(line, {"000000"})


@given(
    lines=st.integers(1, 10**6),
    where=st.sampled_from(["", "lines 1-9 of call_1"]),
    quotes=st.lists(st.text(min_size=1), min_size=2, max_size=2),
)
def test_a_pointer_reads_back(lines: int, where: str, quotes: list[str]) -> None:
    """Whatever lines it quotes, a pointer is one line and says what it was made with."""
    cut = [line[slice(*marks.quote(line))] for line in quotes]
    if not all(cut):
        return
    text = "".join(str(piece) for piece in marks.pointer(lines, where, cut[0], cut[1], ID))

    assert marks.parse(text) == Mark("shown", lines, ID)
    assert text.splitlines() == [text]


@pytest.mark.parametrize(
    ("line", "quoted"),
    [
        pytest.param("   def run(self):", "def run(self):", id="blanks around are left away"),
        pytest.param("x" * 99, "x" * marks.QUOTED, id="a long line is cut"),
        pytest.param("ok\x1b[0m", "ok", id="up to an escape code"),
        pytest.param("\x1b[1mok", "[1mok", id="after an escape"),
        pytest.param(" \x00\x1b", "", id="nothing that prints"),
        pytest.param("12\tname", "12\tname", id="a tab after a line number"),
        pytest.param("end\r", "end", id="up to a carriage return"),
        pytest.param("a" * 28 + "  b", "a" * 28, id="no blanks at the end of what is cut"),
    ],
)
def test_quotes(line: str, quoted: str) -> None:
    """A quote is a slice of the line that prints in one line."""
    start, end = marks.quote(line)

    assert line[start:end] == quoted


def test_an_id_is_short_unless_it_is_taken() -> None:
    """Six digits, and one more for each collision."""
    first = marks.new_id("key", 0, 10, ())
    longer = marks.new_id("key", 0, 10, {first})
    longest = marks.new_id("key", 0, 10, {first, longer})

    assert [len(first), len(longer), len(longest)] == [6, 7, 8]
    assert longest.startswith(longer)
    assert longer.startswith(first)
    assert first not in {marks.new_id("key", 0, 11, ()), marks.new_id("other", 0, 10, ())}


def test_ids_are_found_in_order() -> None:
    """Marks in a text, but not what only stands within a line."""
    text = "\n".join(
        [marks.omitted(3, "aaaaaa"), "see [3 lines omitted: echo recall:bbbbbb]", marks.omitted(1, "cccccc")]
    )

    assert marks.find_ids(text) == ["aaaaaa", "cccccc"]
