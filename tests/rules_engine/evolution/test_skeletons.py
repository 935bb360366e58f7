"""Skeletons: families of commands and shapes of lines, with the patterns that find them again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.evolution.skeletons import DEPTH, NAME, NUMBER, Shape, families, pattern, skeleton, trigger
from rules_engine.scan import compile_given, compile_trigger, encode, find_lines


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        pytest.param("", (), id="nothing runs"),
        pytest.param("# only a comment", (), id="a comment"),
        pytest.param("cd app && sudo apt-get -y install jq", ("cd", "apt-get install"), id="options and sudo"),
        pytest.param("npm run build 2>&1 | tail -3", ("npm run",), id="a pipe is its first stage"),
        pytest.param("git -C lib clone x", ("git clone",), id="an option with its own word"),
        pytest.param("python3.11 -m pytest -q", ("python -m pytest",), id="a module"),
        pytest.param("python3 go.py", ("python",), id="a script is not what it does"),
        pytest.param("make -j4; make test", ("make", "make test"), id="targets"),
        pytest.param('{"chars":"","session_id":3}', ('{"chars"',), id="arguments in JSON"),
    ],
)
def test_families(command: str, expected: tuple[str, ...]) -> None:
    """A family is a program with the word that says what it does, and its trigger finds the command."""
    assert families(command) == expected
    for family in expected:
        assert compile_trigger(trigger(family)).search(command)


@pytest.mark.parametrize(
    ("family", "command"),
    [
        pytest.param("npm run", "grep -r 'npm runs' docs", id="in a word of another"),
        pytest.param("make", "echo make me a sandwich", id="in an argument"),
        pytest.param("git clone", "git log --grep clone", id="in another action"),
        pytest.param('{"chars"', '{"path":"chars"}', id="a value is no key"),
    ],
)
def test_other_commands_do_not_trigger(family: str, command: str) -> None:
    """A family's trigger stands at a program's place."""
    assert not compile_trigger(trigger(family)).search(command)


@pytest.mark.parametrize(
    ("line", "shape"),
    [
        pytest.param("", (), id="blank"),
        pytest.param("   ", (), id="blanks"),
        pytest.param("x" * 30, (), id="a long word is content"),
        pytest.param("  Compiling serde v1.0.3 (lib)", ("compiling", "serde", NAME), id="words, then a version"),
        pytest.param("=== RUN   TestParse", ("===", "run", NAME), id="signs stay"),
        pytest.param("12 45% [3/9]", (NUMBER, NUMBER, NUMBER), id="numbers"),
        pytest.param("Get:12 http://a/b src/x.py", (NAME, NAME, NAME), id="names"),
        pytest.param("────────── ok", ("────", "ok"), id="a rule of any width"),
        pytest.param("┌─── " + "x" * 30, ("┌───",), id="up to the content"),
    ],
)
def test_skeleton(line: str, shape: Shape) -> None:
    """Variable parts are masked, constant ones stay."""
    assert skeleton(line) == shape


def find(shape: Shape, lines: list[str]) -> list[int]:
    """Lines that the pattern of a shape finds."""
    return list(find_lines(compile_given([pattern(shape)], "strip_patterns"), encode(lines)))


LINES = st.text(st.sampled_from("aB z_/.@\\09-=─\t(ä"), max_size=60)


@given(LINES)
def test_a_pattern_finds_its_line(line: str) -> None:
    """Whatever the line, the pattern of its shape, and of any beginning of it, finds it."""
    shape = skeleton(line)
    for depth in range(1, len(shape) + 1):
        assert find(shape[:depth], [line]) == [0]


@given(
    st.lists(st.sampled_from(["Ran", "foo", "a_b", "/usr/x", "12", "3ms", "fooBar", "x.y", "->", "----"]), max_size=4)
)
def test_a_pattern_finds_no_other_line(tokens: list[str]) -> None:
    """What the pattern of a shape finds has that shape."""
    line = " ".join(tokens)
    for other in (("ran",), ("foo", NUMBER), (NAME,), (NUMBER,), (NAME, NAME, NUMBER), ("----", "->")):
        assert bool(find(other, [line])) == (skeleton(line)[: len(other)] == other)
    assert len(skeleton(line)) <= DEPTH
