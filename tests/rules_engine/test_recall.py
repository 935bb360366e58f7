"""Recall: which commands ask for omitted text, and what they get."""

from __future__ import annotations

import pytest

from rules_engine import recall

A, B = "7f3a9c", "51b2e0d"


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("", id="no command"),
        pytest.param("grep recall: notes.txt", id="the word alone"),
        pytest.param("echo recall:", id="no id"),
        pytest.param("echo recall:xyz123", id="an id that is no number"),
        pytest.param("echo recall:7f3a", id="an id that is too short"),
        pytest.param("precho recall:7f3a9c", id="another command"),
        pytest.param("echo my-recall:7f3a9c", id="a longer word"),
        pytest.param("echo recall:7f3a9cxyz", id="an id with more behind it"),
    ],
)
def test_asks_for_nothing(command: str) -> None:
    """Only ``echo recall:ID`` asks."""
    assert recall.requested(command) == ()


@pytest.mark.parametrize(
    ("command", "ids"),
    [
        pytest.param("echo recall:7f3a9c", (A,), id="plain"),
        pytest.param('echo "recall:7f3a9c"', (A,), id="quoted"),
        pytest.param("echo 'recall:7f3a9c'", (A,), id="in single quotes"),
        pytest.param("cd /repo && echo recall:7f3a9c", (A,), id="after another command"),
        pytest.param("bash -lc 'echo recall:7f3a9c'", (A,), id="through a shell"),
        pytest.param('{"command": "echo \\"recall:7f3a9c\\""}', (A,), id="in JSON arguments"),
        pytest.param("echo recall:7f3a9c; echo recall:51b2e0d", (A, B), id="two"),
        pytest.param("echo recall:7f3a9c\necho recall:7f3a9c\n", (A,), id="twice the same"),
    ],
)
def test_asks(command: str, ids: tuple[str, ...]) -> None:
    """In every way in which agents write a command."""
    assert recall.requested(command) == ids


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        pytest.param("see recall:7f3a9c", [A], id="within a line"),
        pytest.param("recall:7f3a9c is here", [A], id="at the beginning of a line"),
        pytest.param(" recall:7f3a9c", [A], id="after a blank"),
        pytest.param("recall:7f3a9c", [B], id="an id that was not asked for"),
        pytest.param("recall:7f3a9c", [], id="nothing asked for"),
    ],
)
def test_is_plain_text(text: str, ids: list[str]) -> None:
    """Only a line that is exactly an id that was asked for is an answer's place."""
    assert recall.substitute(text, {A: "omitted"}, ids) == recall.Recalled(text, (), ())


@pytest.mark.parametrize(
    ("text", "result"),
    [
        pytest.param("recall:7f3a9c", "one\ntwo", id="alone"),
        pytest.param("recall:7f3a9c\n", "one\ntwo\n", id="with a line end"),
        pytest.param("recall:7f3a9c\r\n", "one\ntwo\r\n", id="with another line end"),
        pytest.param("a\nrecall:7f3a9c\nb", "a\none\ntwo\nb", id="among other lines"),
        pytest.param("recall:7f3a9c\nrecall:7f3a9c", "one\ntwo\none\ntwo", id="twice"),
    ],
)
def test_gives_back(text: str, result: str) -> None:
    """The omitted lines in the place of the id."""
    assert recall.substitute(text, {A: "one\ntwo"}, [A]) == recall.Recalled(result, (A,), ())


def test_an_answer_is_not_searched_again() -> None:
    """Omitted text that itself looks like a recall is text."""
    assert recall.substitute("recall:7f3a9c", {A: "recall:51b2e0d"}, [A, B]).text == "recall:51b2e0d"


def test_what_is_unknown_is_said_once_and_for_all() -> None:
    """An answer of its own, which does not look like a mark."""
    given = recall.substitute("recall:7f3a9c\nrecall:51b2e0d", {A: "one"}, [A, B])

    assert given == recall.Recalled("one\n" + recall.unknown_answer(B), (A,), (B,))
    assert "\n" not in recall.unknown_answer(B)
