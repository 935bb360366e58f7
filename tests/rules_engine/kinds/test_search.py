"""Search hits under their file: no string is broken, no number leaves its line, nothing else is taken for a hit."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.kinds import search

Shorten = Callable[..., str]

GREP = "grep -rn x ."


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="an empty text"),
        pytest.param("nothing: here\n", id="no hits"),
        pytest.param("src/a.py:1:x\nsrc/b.py:2:x\nsrc/a.py:3:x", id="no two hits in one file in a row"),
        pytest.param("12:x\n13:y\n14:z", id="hits in one file, without its name"),
        pytest.param("src/a.py\n12:x\n13:y", id="hits under a heading already"),
        pytest.param("src/a.py:def f():\nsrc/a.py:def g():", id="hits without numbers"),
        pytest.param("2026-05-01T10:30:00 a\n2026-05-01T10:30:05 b", id="times"),
        pytest.param("log/2026-05-01T10:30:15.txt:1:x\nlog/2026-05-01T10:30:15.txt:2:x", id="a time in a path"),
        pytest.param("10.0.0.1:8080:a\n10.0.0.1:8080:b", id="addresses"),
        pytest.param("http://x:80:a\nhttp://x:80:b", id="addresses of the web"),
        pytest.param("  at f (/a/b.js:1:2)\n  at g (/a/b.js:3:4)", id="a stack trace"),
        pytest.param("f (a/b.js:1:2)\nf (a/b.js:3:4)", id="places in brackets"),
        pytest.param("src/a.py:1:x\nsrc/a.py:2:x\n3:y", id="a line behind the hits that would read as one of them"),
        pytest.param("src/a.py:1:x\nsrc/a.py:2:x\n--\n3-y", id="the same behind a break"),
        pytest.param("src/a.py:1:x\nsrc/a.py:2:x\nnote:\n3: y", id="numbered lines under a heading of their own"),
        pytest.param("a/b.py:4:z\nmy-a/b.py-5-x\nmy-a/b.py-6-x", id="a path that only ends as that of a hit does"),
        pytest.param("4-5/a.py:1:x\n4-5/a.py:2:x", id="a path that would read as a numbered line"),
    ],
)
def test_leaves_alone(shorten: Shorten, text: str) -> None:
    """Where it is not certain what is path, number and text, nothing changes."""
    assert shorten(search, text, command=GREP) == text


@pytest.mark.parametrize("command", ["make", "git diff"])
def test_leaves_other_output_alone(shorten: Shorten, command: str) -> None:
    """What a compiler says of a file is no search result."""
    text = "src/a.c:1:5: error: x\nsrc/a.c:2:5: warning: y\n@@ -1,2 +1,2 @@\nok\n"

    assert shorten(search, text, command=command) == text


def test_a_blank_stands_before_hits_in_a_json_string(shorten: Shorten) -> None:
    """There the number would stand right behind the letter of the escaped line end."""
    text = "app/src/a.py:1:x\napp/src/a.py:22:  y\napp/src/a.py-23-z\nb.py:1:x\nb.py:2:y"

    found = shorten(search, text, command=GREP, escaped=True)
    assert found == "app/src/a.py:\n 1:x\n 22:  y\n 23-z\nb.py:1:x\nb.py:2:y"


@pytest.mark.parametrize(
    ("text", "result"),
    [
        pytest.param("src/a.py:1:x\nsrc/a.py:22:  y\n", "src/a.py:\n1:x\n22:  y\n", id="two hits"),
        pytest.param(
            "src/a.py:1:x\nsrc/a.py:2:y\nsrc/b.py:3:z\nsrc/c.py:4:x\nsrc/c.py:5:y",
            "src/a.py:\n1:x\n2:y\nsrc/b.py:3:z\nsrc/c.py:\n4:x\n5:y",
            id="a single hit between groups keeps its path",
        ),
        pytest.param(
            "a/b.py-1-x\na/b.py:2:y\na/b.py-3-\n--\na/b.py:9:z\n--\na/c.py:1:x",
            "a/b.py:\n1-x\n2:y\n3-\n--\n9:z\n--\na/c.py:1:x",
            id="lines around hits, and breaks",
        ),
        pytest.param(
            "Found:\nmy dir/a b.txt:1:x\nmy dir/a b.txt:2:y", "Found:\nmy dir/a b.txt:\n1:x\n2:y", id="blanks in a path"
        ),
        pytest.param("C:\\p\\a.go:1:x\nC:\\p\\a.go:2:y", "C:\\p\\a.go:\n1:x\n2:y", id="a drive"),
        pytest.param(
            "p\\a.go:1:failed\np\\a.go:2:x\np\\a.go:3:failed\np\\a.go:4:y\np\\a.go:5:z\np\\a.go:6:error",
            "p\\a.go:1:failed\np\\a.go:\n2:x\np\\a.go:3:failed\n4:y\n5:z\np\\a.go:6:error",
            id="failures in a path with backslashes",
        ),
        pytest.param("./a.py:1:2:x\n./a.py:1:9:y", "./a.py:\n1:2:x\n1:9:y", id="columns"),
        pytest.param(
            "a/b.py:1:c/d.py:2:x\na/b.py:2:if x:\nc/d.py:3:x",
            "a/b.py:\n1:c/d.py:2:x\n2:if x:\nc/d.py:3:x",
            id="places in the text",
        ),
        pytest.param("x/a-1-b.md:1:x\nx/a-1-b.md-2-y", "x/a-1-b.md:\n1:x\n2-y", id="a number in a path"),
        pytest.param(
            "/home/me/a/b.py-1-x\n/home/me/a/b.py-2-failed\n/home/me/a/b.py-3-y\na/b.py:4:z\n/home/me/a/b.py-5-",
            "/home/me/a/b.py:\n1-x\n/home/me/a/b.py-2-failed\n3-y\na/b.py:4:z\n/home/me/a/b.py-5-",
            id="lines around hits under a longer path than the hits have",
        ),
        pytest.param("x/Makefile:1:x\nx/Makefile:2:y\r\n", "x/Makefile:\n1:x\n2:y\r\n", id="a name without an ending"),
    ],
)
def test_groups_hits_under_their_file(shorten: Shorten, text: str, result: str) -> None:
    """The path once, then numbers and texts as they were."""
    assert shorten(search, text, command=GREP) == result


@pytest.mark.parametrize("result", ["a/b.py:\n1:x\n3:y", "a/c.py:\n1:x\n2:y", "1:x\n2:y", "a/b.py:\n1:x\n\n2:y"])
def test_refuses_what_is_not_the_same(result: str) -> None:
    """Another number, another path, none, or a line more does not give the text back."""
    assert not search.verify("a/b.py:1:x\na/b.py:2:y", result, "")


def test_a_heading_and_its_hits_belong_together() -> None:
    """What moves or hides lines of a result may not part them."""
    lines = ["x", "a/b.py:", "1:x", "--", "2:y", "a/c.py:3:z", "d\\e.py:", "4:x", "d\\e.py:5:failed", "6:y"]

    assert search.bound(lines) == [(1, 5), (6, 10)]


PATHS = st.sampled_from(
    [
        "src/a.py",
        "/x/src/a.py",
        "src/a-2-b.py",
        "3-x/y.md",
        "my dir/c.txt",
        "C:\\d.go",
        "p\\q.py",
        "2026-05-01/e.log",
        "f",
        "x:",
    ]
)
TEXTS = st.sampled_from(["", "x", "failed", "if x:", "12:y", "src/a.py:1:z", "--", "中😀\r"])
HITS = st.builds("{}{}{}{}{}".format, PATHS, st.sampled_from(":-"), st.integers(0, 30), st.sampled_from(":-"), TEXTS)


@given(st.lists(HITS | TEXTS | st.just("--"), max_size=30).map("\n".join), st.booleans())
def test_any_hits_come_back(shorten: Shorten, text: str, escaped: bool) -> None:
    """However hits, breaks and other lines are mixed, the inverse gives the text back."""
    shorten(search, text, command=GREP, escaped=escaped)


@pytest.mark.parametrize(
    ("line", "others"),
    [
        pytest.param("src/a.py-7-raise Failed(x)", [], id="a failure in a line around a hit"),
        pytest.param("app/[id]/page.tsx:7:return failed", [], id="a failure in a file of an odd name"),
        pytest.param("src/a.py:7:  return total", ["return total"], id="a text that another part of the output shows"),
    ],
)
def test_a_hit_keeps_its_place_where_that_would_be_missed(shorten: Shorten, line: str, others: list[str]) -> None:
    """The lines around it stand under the heading all the same."""
    path = line[: line.index("7") - 1]
    hits = [f"{path}:{n}:line number {n} of many" for n in range(1, 6)]
    text = "\n".join([*hits, line, *hits, *others])
    shown = shorten(search, text, command=GREP).split("\n")

    assert line in shown
    assert shown[0] == path + ":"
