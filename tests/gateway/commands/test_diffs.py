"""Diffs on a terminal: every character is seen, none acts."""

from __future__ import annotations

import click
from hypothesis import given
from hypothesis import strategies as st

from gateway.commands.diffs import diff, visible


def test_equal_texts_have_no_diff() -> None:
    """Nothing changed, nothing shown."""
    assert list(diff("a\nb", "a\nb")) == []


def test_added_and_removed_lines() -> None:
    """A diff names what went and what came, with what stands around it."""
    lines = [click.unstyle(line) for line in diff("a\nb\nc", "a\nx\nc")]
    assert lines[3:] == [" a", "-b", "+x", " c"]


@given(st.text())
def test_nothing_acts_on_the_terminal(text: str) -> None:
    """No control character of a tool's output reaches the terminal; line ends and tabs do."""
    shown = visible(text)
    assert len(shown) == len(text)
    assert not [c for c in shown if (ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160]


def test_removed_escapes_can_be_seen() -> None:
    """What the terminal kind takes away is visible in what was before."""
    lines = [click.unstyle(line) for line in diff("\x1b[1mbold\x1b[0m", "bold")]
    assert lines[3:] == ["-␛[1mbold␛[0m", "+bold"]


def test_long_lines_fit_where_they_have_to() -> None:
    """What is too long ends in a mark; what fits exactly is whole."""
    lines = [click.unstyle(line) for line in diff("a" * 9, "b" * 10, 10)]
    assert lines[3:] == ["-aaaaaaaaa", "+bbbbbbbb…"]
