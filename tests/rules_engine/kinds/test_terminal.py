"""Escape codes and progress frames: what goes, and above all what does not."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.kinds import terminal

Shorten = Callable[..., str]

CODES = ["\n", "\r", "\r\n", "\b", "\x1b[31m", "\x1b[0m", "\x1b[K", "\x1b[2K", "\x1b[1A", "\x1b]0;t\x07", "\x1b(B"]
WORDS = ["a", "ab ", "load 1%", "load 99%", "error", "    ", "\t", "中", "😀", "e\u0301", "\x00", "\x1b"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="an empty text"),
        pytest.param("plain\ntext\n", id="text without a control character"),
        pytest.param("one\r\ntwo\r\n", id="line ends of another system"),
        pytest.param("one\r\r\ntwo\r\r\n", id="doubled carriage returns at line ends"),
        pytest.param("abcdef\rXY", id="a rest that shows behind what overwrites it"),
        pytest.param("load 1% error: disk full\rload 100% of everything", id="a failure that was overwritten"),
        pytest.param("load 1%\rerror: disk full\rload 100% done    ", id="progress around a failure"),
        pytest.param("alpha\rbravo\rcharlie", id="a file with the line ends of an old system"),
        pytest.param("中文 1\rabcd", id="wide characters that narrow ones do not cover"),
        pytest.param("ab\te\u0301e\u0301\rabcd", id="letters that take no cell, and tabs"),
        pytest.param("\x1b[2J\x1b[Hscreen", id="codes that move over the screen"),
        pytest.param("up\n\x1b[1A\rup again", id="a carriage return after a move"),
        pytest.param("abc\x1b[2Kdef", id="a line erased in its middle"),
        pytest.param("\x1b]8;;https://x.test/a\x1b\\link\x1b]8;;\x1b\\", id="a link whose address shows nowhere else"),
        pytest.param("\x1b(0lqk", id="line drawing, in which letters are no letters"),
        pytest.param("\x1b[${code}m", id="a template for a code"),
        pytest.param("a\bé", id="backspaces among other than plain letters"),
        pytest.param("abc\b\b\bX", id="a word that a shorter one covers in part"),
        pytest.param("Fail\b\b\b\bPass", id="a failure that was taken back"),
        pytest.param("ab\b" * 4000, id="a line of backspaces that nobody typed"),
    ],
)
def test_leaves_alone(shorten: Shorten, text: str) -> None:
    """What a terminal shows, what states a failure and what only looks like a code stays."""
    assert shorten(terminal, text) == text


@pytest.mark.parametrize("command", ["cat notes.txt", "git diff", "sed -n 1,9p a.sh"])
def test_leaves_files_and_diffs_alone(shorten: Shorten, command: str) -> None:
    """A file may hold such characters itself, and an edit must find them."""
    text = "a = '\x1b[31m'\nload 1%\rload 2%\n"

    assert shorten(terminal, text, command=command) == text


@pytest.mark.parametrize(
    ("text", "result"),
    [
        pytest.param("\x1b[1;31mred\x1b[0m and \x1b[38;5;9mmore\x1b[m", "red and more", id="colours"),
        pytest.param("\x1b[?25l\x1b[?2004hx\x1b[6n\x1b[2 q\x1b=\x1b(B", "x", id="modes, questions, character sets"),
        pytest.param("\x1b]0;title\x07$ ls\x1b]133;A\x1b\\", "$ ls", id="titles and prompt marks"),
        pytest.param("x\x1b[1A\x1b[31my", "x\x1b[1Ay", id="only styles where the cursor moves"),
        pytest.param("load 1%\rload 20%\rload 100%\nend", "load 100%\nend", id="progress"),
        pytest.param("\rload\r\n", "load\r\n", id="a frame that begins with its carriage return"),
        pytest.param("load 1%       \rload 2%\n", "load 2%\n", id="frames with blanks to the end"),
        pytest.param("⠋ load\r⠙ load\r⠹ load", "⠹ load", id="a spinner"),
        pytest.param("1%|█  | 1/3\r2%|██ | 2/3\r3%|███| 3/3", "3%|███| 3/3", id="bars"),
        pytest.param("(read ... \r(read ... 5%\r(read ... 100%", "(read ... 100%", id="growing dots"),
        pytest.param("get 1/2\x1b[K\rget 2/2\x1b[K\rget, done.\x1b[K", "get, done.", id="frames that erase the rest"),
        pytest.param(
            "\r\x1b[Kload 1\r\x1b[Kload 2\r\x1b[K\n", "\n", id="frames that erase the line, and nothing in the end"
        ),
        pytest.param("load 99\rsave 1\rsave 2", "load 99\rsave 2", id="the last frame of each of two displays"),
        pytest.param("\x1b[32mload 1\x1b[0m\r\x1b[32mload 2\x1b[0m", "load 2", id="coloured frames"),
        pytest.param("10%\b\b\b20%\b\b\b30%", "30%", id="figures taken back"),
        pytest.param("-\b\\\b|\b/ ready", "/ ready", id="a spinner that steps back"),
        pytest.param("N\bNA\bAME", "NAME", id="letters struck twice"),
    ],
)
def test_shows_what_a_terminal_would(shorten: Shorten, text: str, result: str) -> None:
    """Styles go, and of frames the last stays."""
    assert shorten(terminal, text) == result


@pytest.mark.parametrize("result", ["load 100%", "load 1%\nx", "load 10%\ny"])
def test_refuses_what_shows_otherwise(result: str) -> None:
    """The check compares every line as a terminal shows it."""
    assert not terminal.verify("load 1%\rload 10%\n\x1b[31mx", result, "")


@given(st.lists(st.sampled_from(CODES + WORDS), max_size=40).map("".join))
def test_any_mixture_shows_the_same(shorten: Shorten, text: str) -> None:
    """However codes, frames and words are mixed, the check holds and a second run finds nothing."""
    shorten(terminal, text)
