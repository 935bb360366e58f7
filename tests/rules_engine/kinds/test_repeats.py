"""Lines and blocks that stand several times in a row."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.kinds import repeats

Shorten = Callable[..., str]

LINE = "still waiting for the server\n"
BLOCK = "checking the first part of the work\nchecking the second part\nwaiting some more\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="an empty text"),
        pytest.param(LINE * 3, id="three copies"),
        pytest.param("x\n" * 9, id="short lines"),
        pytest.param("\n" * 99, id="blank lines"),
        pytest.param("   \n" * 99, id="lines of blanks"),
        pytest.param((LINE + "other\n") * 2, id="a block that stands twice"),
        pytest.param("a\nb\n" * 6, id="a short block"),
        pytest.param(
            (LINE[:-1] + " \n") * 9, id="a line that ends with a blank, which a reader of the mark would lose"
        ),
        pytest.param("\n".join(f"{LINE}{n}" for n in range(9)), id="copies with other lines between"),
        pytest.param(LINE * 9 + "copies  [x3]\n", id="a text in which a line looks like a mark"),
        pytest.param(LINE * 9 + "[the 2 lines above stand 3 times in a row]\n", id="a text with the mark of a block"),
        pytest.param("".join(f"line {n}\n" for n in range(13)) * 9, id="a block that is too long to be seen"),
    ],
)
def test_leaves_alone(shorten: Shorten, text: str) -> None:
    """Too few, too short, or not to be told from a mark."""
    assert shorten(repeats, text) == text


@pytest.mark.parametrize("command", ["cat fixture.txt", "git diff", "head -50 a.py"])
def test_leaves_files_and_diffs_alone(shorten: Shorten, command: str) -> None:
    """An edit must find lines that stand together."""
    assert shorten(repeats, LINE * 9, command=command) == LINE * 9


@pytest.mark.parametrize(
    ("text", "result"),
    [
        pytest.param(LINE * 4, "still waiting for the server  [x4]\n", id="four lines"),
        pytest.param(LINE * 200, "still waiting for the server  [x200]\n", id="many lines"),
        pytest.param("a\n" + LINE * 5 + "b", "a\nstill waiting for the server  [x5]\nb", id="lines around"),
        pytest.param((LINE * 5)[:-1], "still waiting for the server  [x5]", id="no line end at the end"),
        pytest.param("  中文 😀 ...\n" * 9, "  中文 😀 ...  [x9]\n", id="other writing, and an indent"),
        pytest.param(BLOCK * 5, BLOCK + "[the 3 lines above stand 5 times in a row]\n", id="a block"),
        pytest.param(
            "a\n" + BLOCK * 5 + "checking the first part of the work\nend",
            "a\n" + BLOCK + "[the 3 lines above stand 5 times in a row]\nchecking the first part of the work\nend",
            id="a block that begins once more",
        ),
        pytest.param(
            LINE * 5 + BLOCK * 5,
            "still waiting for the server  [x5]\n" + BLOCK + "[the 3 lines above stand 5 times in a row]\n",
            id="a line, then a block",
        ),
        pytest.param(
            (LINE + "\n") * 9,
            LINE + "\n[the 2 lines above stand 9 times in a row]\n",
            id="lines with a blank line after each",
        ),
        pytest.param(
            ("warning: deprecated option is used\n") * 12,
            "warning: deprecated option is used  [x12]\n",
            id="a warning stays, with its number",
        ),
    ],
)
def test_keeps_the_first_copy_and_the_number(shorten: Shorten, text: str, result: str) -> None:
    """The mark says how often the line, or the lines above it, stand."""
    assert shorten(repeats, text) == result


def test_a_mark_and_its_lines_belong_together() -> None:
    """What moves or hides lines of a result may not part them."""
    lines = ["x", "a  [x4]", "b", "c", "[the 2 lines above stand 9 times in a row]", "[d]"]

    assert repeats.bound(lines) == [(1, 2), (2, 5)]


@pytest.mark.parametrize(
    "result", ["a  [x4]", "a  [x5]\nb", "b  [x5]", "a\n[the 1 lines above stand 4 times in a row]"]
)
def test_refuses_another_number_or_line(result: str) -> None:
    """The copies are written out and compared."""
    assert not repeats.verify("a\na\na\na\na", result, "")


@given(
    st.lists(st.text("ab \r[]x3中", max_size=12), min_size=1, max_size=4).flatmap(
        lambda lines: st.lists(st.sampled_from(lines), max_size=60).map("\n".join)
    )
)
def test_any_repetition_comes_back(shorten: Shorten, text: str) -> None:
    """Few different lines in any order: the inverse gives the text back."""
    shorten(repeats, text)
