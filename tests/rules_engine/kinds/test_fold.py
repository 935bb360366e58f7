"""Runs of lines of one shape: every value stays a whole word, and what states a result stays a whole line."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_engine.kinds import fold

Shorten = Callable[..., str]

NAMES = ["one.py", "two.py", "three.toml", "four.md", "five.py", "six.py", "seven.py", "eight.lock"]


def lines(form: str, names: list[str] = NAMES) -> str:
    """One line for each name; `{n}` is its place, `{size}` a figure of growing width."""
    made = (form.format(name=name, n=at + 1, size=7 ** (at + 1)) for at, name in enumerate(names))
    return "\n".join(made) + "\nthat was all of it\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="an empty text"),
        pytest.param(lines("{name}"), id="lines of one word"),
        pytest.param(lines("unpacking the archive of {name} into place", NAMES[:5]), id="five lines"),
        pytest.param(lines("unpacking the archive of everything into place"), id="equal lines"),
        pytest.param(lines("{name} {n} {size} is {name}"), id="lines that share little"),
        pytest.param(lines("get {name}"), id="lines too short to gain"),
        pytest.param(lines("{n} | {size} | 1000 | 2000 | 3000 | 4000 | 5000 | 6000"), id="a table of figures"),
        pytest.param(lines("import-check of {name}: failed to load the module"), id="failures"),
        pytest.param(lines("checked {name} with every known test: 12 passed"), id="results"),
        pytest.param(
            lines("entry {{{name}}} of the archive was written to disk"), id="braces, which a format string needs"
        ),
        pytest.param(lines("unpacking the archive of {name} into place\r"), id="other line ends"),
        pytest.param(lines("unpacking the archive of {name} into place" + " x" * 500), id="very long lines"),
        pytest.param(lines("unpacking the archive of {name} into its place") * 1300, id="a text too large to search"),
        pytest.param(
            lines("unpacking the archive of {name} into place")
            + '[2 lines of the form "{}", each given by its values:]',
            id="a text in which a form stands already",
        ),
        pytest.param(
            "\n".join(f"unpacking{' ' * n}the archive of {name} into place" for n, name in enumerate(NAMES, 1)),
            id="blanks that follow no alignment",
        ),
        pytest.param(
            lines("package {name:<12} {size:>8} bytes to unpack into place"), id="columns that share their blanks"
        ),
    ],
)
def test_leaves_alone(shorten: Shorten, text: str) -> None:
    """Too little in common, too little to gain, or lines that must stay whole."""
    assert shorten(fold, text) == text


@pytest.mark.parametrize("command", ["cat list.txt", "git diff", "grep -rn archive ."])
def test_leaves_all_but_terminal_output_alone(shorten: Shorten, command: str) -> None:
    """Lines of files, diffs and search results are copied whole."""
    text = lines("unpacking the archive of {name} into place")

    assert shorten(fold, text, command=command) == text


def test_leaves_lines_in_a_json_string_alone(shorten: Shorten) -> None:
    """There a value would stand right behind the letter of the escaped line end."""
    text = lines("unpacking the archive of {name} into its own place")

    assert shorten(fold, text, escaped=True) == text


@pytest.mark.parametrize(
    ("form", "head", "row"),
    [
        pytest.param(
            "unpacking the archive of {name} into place",
            "unpacking the archive of {} into place",
            "{name}",
            id="one value",
        ),
        pytest.param(
            "unpack step-{n} of the archive now: /opt/work/{name} (from origin {size})",
            "unpack {} of the archive now: {} (from origin {}",
            "step-{n} /opt/work/{name} {size})",
            id="values are whole words, with what clings to them",
        ),
        pytest.param(
            "-rw-r--r-- 1 root root {size:>8} Jan  5 10:00 {name}",
            "-rw-r--r-- 1 root root {:>8} Jan  5 10:00 {}",
            "{size} {name}",
            id="figures aligned at the right",
        ),
        pytest.param(
            "{size:>8} blocks of the archive are being unpacked for {name}",
            "{:>8} blocks of the archive are being unpacked for {}",
            "{size} {name}",
            id="the first word aligned at the right",
        ),
        pytest.param(
            "unpack into its place {name:<12} version 1.{n} of the index",
            "unpack into its place {:<12} version {} of the index",
            "{name} 1.{n}",
            id="names aligned at the left",
        ),
        pytest.param(
            "\tarchive\tof\t{name}\tis\tunpacked\tinto\tits\tplace",
            "\tarchive\tof\t{}\tis\tunpacked\tinto\tits\tplace",
            "{name}",
            id="tabs",
        ),
        pytest.param(
            "解压 archive of {name} → 😀 into its own place",
            "解压 archive of {} → 😀 into its own place",
            "{name}",
            id="other writing",
        ),
    ],
)
def test_states_the_form_and_then_the_values(shorten: Shorten, form: str, head: str, row: str) -> None:
    """A format string in a mark, then one line of values for each line."""
    mark = f'[8 lines of the form "{head}", each given by its values:]\n'

    assert shorten(fold, "begin\n" + lines(form)) == "begin\n" + mark + lines(row)


def test_a_failure_in_the_midst_stays_a_line(shorten: Shorten) -> None:
    """What comes before and after it is folded apart."""
    form = "unpacking the archive of {name} into its own place"
    text = lines(form) + "unpacking the archive of nine.py failed: disk full\n" + lines(form)

    result = shorten(fold, text).split("\n")

    assert "unpacking the archive of nine.py failed: disk full" in result
    assert sum(line.endswith("each given by its values:]") for line in result) == 2


def test_the_last_line_of_a_text_stays(shorten: Shorten) -> None:
    """It may be the verdict."""
    text = "\n".join(f"unpacking the archive of {name} into its own place" for name in NAMES)

    assert shorten(fold, text).endswith("\nseven.py\nunpacking the archive of eight.lock into its own place")


def test_a_form_and_its_values_belong_together(shorten: Shorten) -> None:
    """What moves or hides lines of a result may not part them."""
    result = shorten(fold, "begin\n" + lines("unpacking the archive of {name} into its own place"))

    assert fold.bound(result.split("\n")) == [(1, 10)]


@pytest.mark.parametrize(
    "result",
    [
        '[2 lines of the form "a {} c", each given by its values:]\n1\n3',
        '[2 lines of the form "a  {} c", each given by its values:]\n1\n2',
        '[1 lines of the form "a {} c", each given by its values:]\n1\n2',
    ],
)
def test_refuses_what_is_not_the_same(result: str) -> None:
    """Another value, form or number does not give the text back."""
    assert not fold.verify("a 1 c\na 2 c", result, "")


WORDS = st.sampled_from(["a", "bb", "/opt/x.py", "1.2.3", "中", "😀", '"q"', "{", "error:", "12"])
FORMS = st.sampled_from(
    ["unpack {} of the archive {} into place", "{:>9} bytes of {:<9} are here now", "\t{}  is the  name of {} today "]
)


@given(st.lists(st.builds(str.format, FORMS, WORDS, WORDS), max_size=12).map(lambda some: "\n".join(some * 3)))
def test_any_run_comes_back(shorten: Shorten, text: str) -> None:
    """Whatever the values and their alignment, the inverse gives the text back."""
    shorten(fold, text)
