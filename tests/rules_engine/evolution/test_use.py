"""Use: what later turns take from tool results."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.evolution.use import cores, samples, used_lines, words
from rules_engine.types import Applied, Form, Loss, Observation, Result, Script, Turn


def turn(said: str, *texts: str) -> Turn:
    """A turn whose calls gave `texts`."""
    seen = (Observation(key=text, tool="bash", command="x", exit_code=0, text=text) for text in texts)
    return Turn(said=said, results=tuple(Result(observation=one) for one in seen))


def used(*turns: Turn) -> list[set[str]]:
    """What was used of each result."""
    return [set(sample.used) for sample in samples(turns, "s", "r")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("", set(), id="nothing"),
        pytest.param("The tests fail. Read it; go on...", set(), id="plain language"),
        pytest.param("ab 1 x_", set(), id="too short to tell"),
        pytest.param("see src/a_b.py:12, then v1.2.3", {"src/a_b.py", "v1.2.3"}, id="paths and versions"),
        pytest.param("call fooBar(baz_quux)", {"fooBar", "baz_quux"}, id="identifiers"),
        pytest.param("commit 7f3a9c1 has 1042 lines", {"7f3a9c1", "1042"}, id="hashes and numbers"),
        pytest.param("/etc/hosts", {"/etc/hosts"}, id="absolute paths"),
    ],
)
def test_words(text: str, found: set[str]) -> None:
    """Only what is not of plain language counts."""
    assert words(text) == found


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        pytest.param([], [], id="no session, no sample"),
        pytest.param([turn("go", "a/one.py")], [set()], id="nothing after the last result"),
        pytest.param([turn("", "a/one.py"), turn("all is well")], [set()], id="plain words are nobody's"),
        pytest.param([turn("read a/one.py", "a/one.py"), turn("a/one.py")], [set()], id="the agent had said it"),
        pytest.param([turn("look", "a/one.py"), turn("edit a/one.py")], [{"a/one.py"}], id="a path is taken up"),
        pytest.param(
            [turn("", "a/one.py"), turn("", "z"), turn("a/one.py")], [{"a/one.py"}, set()], id="two turns later"
        ),
        pytest.param([turn("", "a/one", "a/one"), turn("a/one")], [{"a/one"}] * 2, id="it stood in both"),
        pytest.param(
            [turn("", "a/one.py"), turn("a/one.py", "a/one.py"), turn("a/one.py")],
            [{"a/one.py"}, set()],
            id="what was said once is known",
        ),
        pytest.param(
            [turn("", "   12\tplain words here\n   13\tand more of it"), turn("  plain words here\n  new words now")],
            [{"plain words here"}],
            id="an edit's old text, whatever numbers and blanks are around",
        ),
        pytest.param(
            [turn("", "plain words here\nwords that go"), turn("@@\n plain words here\n-words that go\n+words new")],
            [{"plain words here", "words that go"}],
            id="context and removed lines of a patch",
        ),
    ],
)
def test_use(turns: list[Turn], expected: list[set[str]]) -> None:
    """A string is used if a later turn holds it and nobody had said it before."""
    assert used(*turns) == expected


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        pytest.param("lossless", [{"a/one.py"}, set()], id="what a pointer leads to was seen"),
        pytest.param("lossy", [set()], id="what a rule left out was not"),
    ],
)
def test_what_nobody_saw_nobody_could_use(loss: Loss, expected: list[set[str]]) -> None:
    """A result with lines left out teaches nothing about them, and its rest is known from then on."""
    text = "a/one.py\nb/two.py\nc/six.py"
    script: Script = ((0, 9), "[1 line omitted]", (17, 26))
    applied = (Applied(rule=("r", 1), loss=loss, removed=3),)
    form = Form(script=script, digest="", applied=applied)
    shown = Result(observation=Observation(key="k", tool="bash", command="x", exit_code=0, text=text), form=form)
    found = list(samples([Turn(said="", results=(shown,)), turn("a/one.py", "b/two.py c/six.py")], "s", ""))
    assert [sample.used for sample in found] == expected
    assert found[-1].known == ({"b/two.py", "c/six.py"} if loss == "lossless" else {"c/six.py"})


def test_known() -> None:
    """Words that stood anywhere in the context before are known, whoever said them."""
    first, second = samples([turn("of a/one.py", "a/one.py a/two.py"), turn("", "a/two.py a/six.py")], "s", "r")
    assert first.known == {"a/one.py"}
    assert second.known == {"a/two.py"}
    assert (first.session, first.source) == ("s", "r")


def test_used_lines() -> None:
    """A line is used if it holds a used word or is quoted as a whole."""
    lines = ["", "see a/one.py", "see a/two.py", " 3: whole plain line"]
    assert used_lines(lines, ()) == frozenset()
    assert used_lines(lines, {"a/one.py", "whole plain line"}) == {1, 3}
    assert cores(lines)[3] == "whole plain line"


@given(st.lists(st.text(st.sampled_from("ab/_ 1\n"), max_size=40), max_size=5))
def test_what_is_used_stands_in_the_result(texts: list[str]) -> None:
    """Whatever is said, only a result's own words and lines can be used of it."""
    found = samples([turn(text, text) for text in texts], "s", "")
    for sample in found:
        own = words(sample.observation.text).union(cores(sample.observation.text.split("\n")))
        assert sample.used <= own
        assert sample.known <= own
